import { expect, test } from 'vitest';
import { join0, join1, testHub } from '../test/helpers/hub.ts';
import type { Peer } from '../test/helpers/peer.ts';

const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
const route = (payload: string) => `{"type":"route","from":"a","to":"b","task_id":"","payload":${payload}}`;

const bad: Readonly<Record<string, { data: string | Buffer; binary?: boolean; code: string }>> = {
  'not JSON': { data: '{oops', code: 'bad_json' },
  'an array': { data: '[]', code: 'bad_frame' },
  'a number': { data: '17', code: 'bad_frame' },
  'a missing type': { data: '{"from":"a","to":"b","task_id":"","payload":1}', code: 'bad_frame' },
  'an unknown type': { data: '{"type":"launch","from":"a","to":"b","task_id":"","payload":1}', code: 'unknown_type' },
  'a type that is a number': { data: '{"type":5,"from":"a","to":"b","task_id":"","payload":1}', code: 'bad_frame' },
  '600 KiB': { data: route(JSON.stringify('x'.repeat(600 * 1024))), code: 'too_large' },
  'depth 100': { data: route(deep), code: 'bad_frame' },
  'a binary frame': { data: Buffer.from(route('1')), binary: true, code: 'bad_frame' },
  'nothing at all': { data: '', code: 'bad_json' },
  'a __proto__ key': { data: route('{"__proto__":{"polluted":true}}'), code: 'bad_frame' },
  'a __proto__ key on top': { data: '{"type":"ping","__proto__":{"polluted":true}}', code: 'bad_frame' },
  null: { data: 'null', code: 'bad_frame' },
  'half a megabyte of brackets': { data: '['.repeat(500_000), code: 'bad_json' },
  'a task_id with a space': {
    data: '{"type":"route","from":"a","to":"b","task_id":"a b","payload":1}',
    code: 'bad_frame',
  },
  'another version': { data: '{"type":"ping","v":2}', code: 'unsupported_version' },
};

for (const [title, { data, binary = false, code }] of Object.entries(bad)) {
  for (const level of [0, 1]) {
    test(`R-HUB-3: ${title} gets an error at level ${level} and the others go on`, async () => {
      const hub = await testHub();
      const a = await (level === 0 ? join0(hub, 'a') : join1(hub, 'a'));
      const b = await join0(hub, 'b');
      a.socket.send(data, { binary });
      expect((await a.next('error')).payload).toMatchObject({ code });
      await b.ping();
      await a.ping();
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    });
  }
}

test.each([
  ['too deep', `{"type":"route","from":"a","to":"b","task_id":"","id":"mine","payload":${deep}}`],
  ['a prototype', '{"type":"route","from":"a","to":"b","task_id":"","id":"mine","payload":{"__proto__":{}}}'],
  ['too many keys', `{"type":"route","id":"mine",${Array.from({ length: 1001 }, (_, n) => `"k${n}":1`).join()}}`],
  ['a wrong field', '{"type":"route","from":"a","to":5,"task_id":"","id":"mine","payload":1}'],
  ['an unknown type', '{"type":"launch","from":"a","to":"b","task_id":"","id":"mine","payload":1}'],
  ['another version', '{"type":"route","from":"a","to":"b","task_id":"","id":"mine","payload":1,"v":2}'],
])(
  'R-HUB-3: the error about a frame with %s names the frame, so that its sender does not take it for accepted',
  async (_title, data) => {
    const hub = await testHub();
    const a = await join1(hub, 'a');
    a.socket.send(data);
    const { type } = JSON.parse(data) as { type: string };
    expect(await a.next('error')).toMatchObject({ ref: 'mine', payload: { ref_type: type } });
  },
);

test('R-HUB-3: invalid UTF-8 closes its own connection and no other', async () => {
  const hub = await testHub();
  const a = await join0(hub, 'a');
  const b = await join0(hub, 'b');
  sendRaw(a, 0x81, Buffer.from([0xff, 0xfe, 0xfd]));
  expect(await a.end()).toMatchObject({ code: 1007 });
  await b.ping();
});

test('R-HUB-3: a frame beyond 1 MiB closes its own connection and no other', async () => {
  const hub = await testHub();
  const a = await join0(hub, 'a');
  const b = await join0(hub, 'b');
  a.socket.send(route(JSON.stringify('x'.repeat(1024 * 1024))));
  expect(await a.end()).toMatchObject({ code: 1009 });
  await b.ping();
});

test('R-HUB-15: a frame of 512 KiB is taken, one byte more is refused', async () => {
  const hub = await testHub();
  const a = await join0(hub, 'a');
  const b = await join0(hub, 'b');
  const frame = (bytes: number) => route(JSON.stringify('x'.repeat(bytes - route('""').length)));
  a.socket.send(frame(512 * 1024 + 1));
  expect((await a.next('error')).payload.code).toBe('too_large');
  a.socket.send(frame(512 * 1024));
  expect((await b.next('route')).payload.length).toBeGreaterThan(524_000);
});

test('R-HUB-3: a frame in fragments is one frame', async () => {
  const hub = await testHub();
  const a = await join0(hub, 'a');
  const text = route('"whole"');
  const b = await join0(hub, 'b');
  a.socket.send(text.slice(0, 20), { fin: false });
  a.socket.send(text.slice(20), { fin: true });
  expect((await b.next('route')).payload).toBe('whole');
});

test('R-HUB-15: twenty bad frames within ten seconds close the connection for good', async () => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  for (let count = 0; count < 20; count += 1) a.socket.send('{oops');
  expect(await a.end()).toMatchObject({ code: 4501 });
  expect(a.frames.filter(({ type }) => type === 'error')).toHaveLength(20);
});

test('R-HUB-3: frames that only the hub may say are refused', async () => {
  const hub = await testHub();
  const a = await join1(hub, 'a');
  a.send({ type: 'task.status', payload: { state: 'done', sub_state: 'done', attempt: 1, agent: null, reason: '' } });
  expect((await a.next('error')).payload).toMatchObject({ code: 'bad_frame', ref_type: 'task.status' });
});

/** Sends bytes that no WebSocket library would. */
function sendRaw(peer: Peer, opcode: number, payload: Buffer): void {
  const { _socket: socket } = peer.socket as unknown as { _socket: { write(data: Buffer): void } };
  const mask = Buffer.from([1, 2, 3, 4]);
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] as number)));
  socket.write(Buffer.concat([Buffer.from([opcode, 0x80 | payload.length]), mask, masked]));
}
