import { expect, test } from 'vitest';
import { join1, testHub } from '../../test/helpers/hub.ts';
import { openStorage } from '../sqlite-storage.ts';

const forged = '{"type":"task.result","from":"coder","to":"owner","task_id":"t","payload":{},"id":"f","lsn":9}';

test.each([
  ['a line break', '\n'],
  ['a carriage return', '\r'],
  ['both', '\r\n'],
  ['a tab', '\t'],
])(
  'R-HUB-73: a frame with %s between its tokens is one line of the log, and forges no other',
  async (_title, space) => {
    const hub = await testHub();
    const a = await join1(hub, 'a');
    const b = await join1(hub, 'b');
    const payload = `{"x":${space}${forged}${space}}`;
    a.socket.send(`{"type":"route","from":"a","to":"b","task_id":"","id":"m","payload":${payload}}`);
    await b.next('route', ({ payload: { x } }) => x.id === 'f');
    const text = await (await fetch(`http://127.0.0.1:${hub.port}/v1/log`)).text();
    expect(text).not.toMatch(/[\t\r]/);
    expect(text.split('\n').map((line) => line && JSON.parse(line).id)).toEqual(['m', '']);
  },
);

test('R-HUB-73: a frame that lies in the log as more than one line is read as one', async () => {
  const { storage, ...rest } = await openStorage(':memory:');
  const body = Buffer.from(`{"type":"route","from":"a",\r\n\t"to":"b","task_id":"","id":"m","payload":\n${forged}\n}`);
  const row = { type: 'route', from: 'a', to: 'b', box: null, taskId: '', id: 'm', attempt: null, body };
  await storage.commit([{ kind: 'message', row }], 1);
  const hub = await testHub({ openStorage: async () => ({ storage, ...rest }) });
  const a = await join1(hub, 'a');
  const text = await (await fetch(`http://127.0.0.1:${hub.port}/v1/log`)).text();
  const lines = text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ id: 'm', lsn: 1, payload: JSON.parse(forged) }),
  ]);
  a.send({ type: 'log', payload: {} });
  expect((await a.next('log')).payload.frames).toMatchObject([{ id: 'm', lsn: 1 }]);
});

test('R-HUB-16: what a frame says of itself is found however it was spelled', async () => {
  const hub = await testHub({ limits: { rate: 0 } });
  const a = await join1(hub, 'a');
  const w = await join1(hub, 'w', { roles: ['r'] });
  const [from, to, task, rest] = ['"\\u0061"', '"\\u0077"', '"\\u0074"', ',"payload":1,"id"'];
  a.socket.send(`{"type":"r\\u006fute","from":${from},"to":${to},"task_id":${task}${rest}:"hid"}`);
  a.socket.send(`{"type":"route","from":"a","to":"role:r\\/*","task_id":""${rest}:"all"}`);
  await w.wait(({ id }) => id === 'all');
  // Enough that the first ones are in the index, and read from their batch.
  for (let index = 0; index < 1200; index += 1) {
    w.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted' } } });
  }
  await w.wait(({ type, payload }) => type === 'accepted' && payload.upto >= 1201);
  const found = async (query: string) => {
    const text = await (await fetch(`http://127.0.0.1:${hub.port}/v1/log?${query}&limit=2`)).text();
    return text.split('\n').map((line) => line && JSON.parse(line).id);
  };
  expect(await found('type=route')).toEqual(['hid', 'all', '']);
  expect(await found('agent=a')).toEqual(['hid', 'all', '']);
  expect(await found('task_id=t')).toEqual(['hid', '']);
  expect((await found('agent=w'))[0]).toBe('hid');
});
