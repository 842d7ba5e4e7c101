import { expect, test } from 'vitest';
import { assign } from '../test/helpers/crew.ts';
import { join0, join1, testHub } from '../test/helpers/hub.ts';
import { connectPeer } from '../test/helpers/peer.ts';

const limits = { rate: 0, upgradesPerSecond: 0 };
const rounds = Array.from({ length: 20 }, (_, round) => round);

test('R-HUB-109: what is broadcast while a hello is answered comes after welcome', async () => {
  const hub = await testHub({ limits });
  const a = await join1(hub, 'a');
  for (const round of rounds) {
    const b = await connectPeer(hub.url, `b${round}`, { query: '&v=1' });
    b.send({ type: 'hello', payload: { v: 1 } });
    a.send({ type: 'route', to: '*', payload: round });
    await b.wait(({ type }) => type === 'welcome');
    expect(b.frames[0]?.type).toBe('welcome');
    await b.close();
  }
});

test.each(['new', 'recovered'])(
  'R-HUB-109: without v=1 in the address, a message that comes after hello is told as level 1 is told; the session is %s',
  async (state) => {
    const hub = await testHub({ limits, clocks: { grace: 1 } });
    const a = await join1(hub, 'a');
    for (const round of rounds) {
      const name = `c${round}`;
      let resume = {};
      if (state === 'recovered') {
        const first = await connectPeer(hub.url, name);
        first.send({ type: 'hello', payload: { v: 1 } });
        const { session, resume_token, epoch, seq } = (await first.next('welcome')).payload;
        resume = { resume: { session, resume_token, epoch, seq } };
        await first.close();
      }
      const b = await connectPeer(hub.url, name);
      await a.ping();
      b.send({ type: 'hello', payload: { v: 1, ...resume } });
      const ids = [1, 2, 3].map((payload) => a.send({ type: 'route', to: name, payload }));
      const welcome = await b.wait(({ type }) => type === 'welcome');
      expect(welcome.payload.resume.state).toBe(state);
      await b.wait(({ id }) => id === ids[2]);
      const told = b.frames.filter(({ type }) => type === 'route');
      const late = b.frames.slice(b.frames.indexOf(welcome)).filter(({ type }) => type === 'route');
      // What had been committed before the hub read the hello was for level 0.
      expect(late.every(({ seq }) => seq !== undefined)).toBe(true);
      expect(told.filter((frame) => !late.includes(frame)).every(({ seq }) => seq === undefined)).toBe(true);
      expect(told.map(({ payload }) => payload)).toEqual([1, 2, 3]);
      await b.close();
    }
  },
);

test('R-HUB-109: in one turn, a hello comes before the message behind it', async () => {
  const hub = await testHub({ limits });
  const b = await join0(hub, 'b', '&role=coder');
  const seen: string[] = [];
  const a = await join1(hub, 'a');
  b.socket.on('message', (data) => seen.push(JSON.parse(String(data)).type));
  b.send({ type: 'hello', payload: { v: 1, roles: ['coder'] } });
  assign(a, 't1');
  await b.next('task.assign');
  expect(seen.slice(0, 1)).toEqual(['welcome']);
  expect(seen).not.toContain('route');
});
