import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { join0, join1, testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { connectPeer, type Peer } from '../test/helpers/peer.ts';

/** Has all that `send` sends go out in one piece, so that the hub reads it at once. */
function inOnePiece({ socket }: Peer, send: () => void): void {
  const { _socket: stream } = socket as unknown as { _socket: Socket };
  stream.cork();
  send();
  stream.uncork();
}

test('R-HUB-15: a hello of another version is refused for good', async () => {
  const hub = await testHub();
  const a = await connectPeer(hub.url, 'a', { query: '&v=1' });
  a.send({ type: 'hello', payload: { v: 2 } });
  expect((await a.next('error')).payload.code).toBe('unsupported_version');
  expect(await a.end()).toMatchObject({ code: 4503 });
});

test('R-HUB-15: no more than the window is sent unacknowledged, and nothing is lost or out of order', async () => {
  const hub = await testHub({ limits: { maxInflight: 4 } });
  const sender = await join1(hub, 'sender');
  const slow = await join1(hub, 'slow');
  slow.acks = false;
  for (let count = 0; count < 200; count += 1) sender.send({ type: 'route', to: 'slow', payload: count });
  await sender.ping();
  await slow.ping();
  const inflight = slow.frames.filter(({ type }) => type === 'route');
  expect(inflight.map(({ payload }) => payload)).toEqual([0, 1, 2, 3]);
  slow.send({ type: 'ack', payload: { ids: [inflight[1]?.id] } });
  await slow.ping();
  expect(slow.frames.filter(({ type }) => type === 'route')).toHaveLength(4);
  slow.acks = true;
  slow.send({ type: 'ack', payload: { seq: inflight[3]?.seq } });
  await slow.wait(({ payload }) => payload === 199);
  const all = slow.frames.filter(({ type }) => type === 'route');
  expect(all.map(({ payload }) => payload)).toEqual(Array.from({ length: 200 }, (_, count) => count));
  expect(all.every((frame, index) => index === 0 || frame.prev === all[index - 1]?.seq)).toBe(true);
  slow.send({ type: 'ack', payload: { seq: 9999 } });
  expect((await slow.next('error')).payload.code).toBe('bad_state');
});

test('R-HUB-15: what a stalled level-0 reader has not read waits on disk and arrives complete', async () => {
  const hub = await testHub({ limits: { rate: 0, softBuffer: 64 * 1024 } });
  const sender = await join1(hub, 'sender');
  const slow = await join0(hub, 'slow');
  slow.socket.pause();
  const text = 'x'.repeat(16 * 1024);
  const count = 1200;
  for (let index = 0; index < count; index += 1) sender.send({ type: 'route', to: 'slow', payload: { index, text } });
  await sender.wait(({ type, payload }) => type === 'accepted' && payload.upto === count + 1);
  slow.socket.resume();
  await slow.wait(({ payload }) => payload?.index === count - 1);
  expect(slow.frames.map(({ payload }) => payload.index)).toEqual(Array.from({ length: count }, (_, index) => index));
});

test('R-HUB-15: a full mailbox is told to the sender, and empties again', async () => {
  const hub = await testHub({ limits: { mailboxMessages: 3 } });
  const sender = await join1(hub, 'sender');
  const away = await join1(hub, 'away');
  await away.close();
  for (let count = 0; count < 3; count += 1) {
    sender.send({ type: 'route', to: 'away', payload: count });
    await sender.next('accepted');
  }
  sender.send({ type: 'route', to: 'away', payload: 3 });
  expect((await sender.next('error')).payload).toMatchObject({ code: 'mailbox_full', retryable: true });
  const back = await join1(hub, 'away');
  await back.next('route', ({ payload }) => payload === 2);
  await back.ping();
  sender.send({ type: 'route', to: 'away', payload: 4 });
  expect((await back.next('route', ({ payload }) => payload === 4)).payload).toBe(4);
});

test('R-HUB-15: a sender beyond its rate is slowed down, told so, and loses nothing', async () => {
  const hub = await testHub({ limits: { rate: 1000, burst: 50 } });
  const sender = await join1(hub, 'sender');
  const reader = await join1(hub, 'reader');
  const began = performance.now();
  for (let count = 0; count < 300; count += 1) sender.send({ type: 'route', to: 'reader', payload: count });
  await reader.wait(({ payload }) => payload === 299);
  await sender.ping();
  expect(performance.now() - began).toBeGreaterThan(200);
  expect(sender.frames.some(({ payload }) => payload?.code === 'rate_limited')).toBe(true);
  expect(reader.frames.filter(({ type }) => type === 'route')).toHaveLength(300);
});

test('R-HUB-15: of many small frames in one read no more than the burst goes through at once, the rest in order at its rate', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, limits: { rate: 5, burst: 5 }, clocks: { ping: 1e9 } });
  const [reader, sender] = [await join0(hub, 'reader'), await join1(hub, 'sender')];
  const got = () => reader.frames.filter(({ type }) => type === 'route').map(({ payload }) => payload);
  const hearing = async (count: number) => {
    await reader.wait(({ payload }) => payload === count - 1);
    await reader.ping();
    expect(got()).toHaveLength(count);
  };
  inOnePiece(sender, () => {
    for (let count = 0; count < 300; count += 1) sender.send({ type: 'route', to: 'reader', payload: count });
  });
  expect((await sender.next('error')).payload).toMatchObject({ code: 'rate_limited', retry_after_ms: 200 });
  // hello was the first of the burst
  await hearing(4);
  clock.advance(199);
  await hearing(4);
  clock.advance(1);
  await hearing(5);
  clock.advance(1000);
  await hearing(10);
  // what is accepted has been read in its turn
  await sender.wait(({ type, payload }) => type === 'accepted' && payload.upto === 11);
  expect(sender.frames.every(({ type, payload }) => type !== 'accepted' || payload.upto <= 11)).toBe(true);
  clock.advance(57_999);
  await hearing(299);
  clock.advance(1);
  await hearing(300);
  expect(got()).toEqual(Array.from({ length: 300 }, (_, index) => index));
});

test('R-HUB-15: what a peer said before it closed is taken, though it waited behind questions and came too fast', async () => {
  const hub = await testHub({ limits: { rate: 500, burst: 5 } });
  const reader = await join0(hub, 'reader');
  for (const end of ['close', 'terminate'] as const) {
    const [plain, full] = [await join0(hub, `plain-${end}`), await join1(hub, `full-${end}`)];
    for (const peer of [plain, full]) {
      inOnePiece(peer, () => {
        for (let count = 0; count < 20; count += 1) peer.send({ type: 'log', payload: {} });
        peer.send({ type: 'route', to: 'reader', payload: 'last words' });
        if (end === 'close') peer.socket.close();
      });
      if (end === 'terminate') peer.socket.terminate();
      expect(await reader.next('route')).toMatchObject({ from: peer.name, payload: 'last words' });
    }
  }
  reader.send({ type: 'who' });
  expect((await reader.next('who')).payload.agents).toHaveLength(1);
});

test('R-HUB-15: who asks at once for more than it reads is answered one by one, and the rest waits unanswered', async () => {
  const hub = await testHub({ limits: { rate: 0, softBuffer: 64 * 1024, hardBuffer: 256 * 1024 } });
  const sender = await join1(hub, 'sender');
  const text = 'x'.repeat(50_000);
  for (let count = 0; count < 8; count += 1) {
    sender.send({ type: 'task.event', task_id: 'run', payload: { event: { type: 'noted', text } } });
  }
  await sender.ping();
  const deaf = await join0(hub, 'deaf');
  deaf.socket.pause();
  inOnePiece(deaf, () => {
    for (let count = 0; count < 60; count += 1) deaf.send({ type: 'log', payload: {} });
    deaf.send({ type: 'route', to: 'sender', payload: 'all asked' });
  });
  const waiting = async () => {
    const metrics = await (await fetch(`${hub.url.replace('ws', 'http')}/metrics`)).text();
    return Number(/^hub_out_buffer_bytes\{agent="deaf"\} (\d+)/m.exec(metrics)?.[1]);
  };
  await expect.poll(waiting).toBeGreaterThan(256 * 1024);
  await sender.ping();
  expect(await waiting()).toBeLessThan(1024 * 1024);
  expect(sender.frames.filter(({ type }) => type === 'route')).toEqual([]);
  deaf.socket.resume();
  expect((await sender.next('route')).payload).toBe('all asked');
  await expect.poll(() => deaf.frames.filter(({ type }) => type === 'log')).toHaveLength(60);
});

test('R-HUB-15: a reader that drains slowly but steadily is never cut off', async () => {
  const hub = await testHub({
    limits: { rate: 0, softBuffer: 32 * 1024, hardBuffer: 128 * 1024, stalledMs: 800 },
  });
  const sender = await join1(hub, 'sender');
  for (let count = 0; count < 8; count += 1) {
    sender.send({
      type: 'task.event',
      task_id: 'run',
      payload: { event: { type: 'noted', text: 'x'.repeat(50_000) } },
    });
  }
  await sender.ping();
  const slow = await join0(hub, 'slow');
  for (let count = 0; count < 60; count += 1) slow.send({ type: 'log', payload: {} });
  const pages = () => slow.frames.filter(({ type }) => type === 'log').length;
  while (pages() < 60) {
    slow.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const before = pages();
    slow.socket.resume();
    await slow.wait(() => pages() > before || pages() === 60);
  }
  expect(slow.closed).toBeUndefined();
});

test('R-HUB-15: who asks on and on and reads nothing is cut off; who reads is not', async () => {
  const hub = await testHub({
    limits: { rate: 0, softBuffer: 32 * 1024, hardBuffer: 256 * 1024, stalledMs: 100 },
  });
  const sender = await join1(hub, 'sender');
  const reader = await join1(hub, 'reader');
  for (let count = 0; count < 20; count += 1) sender.send({ type: 'route', to: 'reader', payload: 'x'.repeat(50_000) });
  await sender.ping();
  const deaf = await join0(hub, 'deaf');
  deaf.socket.pause();
  for (let count = 0; count < 200; count += 1) deaf.send({ type: 'log', payload: {} });
  const look = await join0(hub, 'look');
  const names = async () => {
    look.send({ type: 'who' });
    return (await look.next('who')).payload.agents.map(({ name }: { name: string }) => name);
  };
  while ((await names()).includes('deaf')) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await names()).toContain('reader');
  await reader.ping();
});

test('R-HUB-12: a socket that does not answer its ping is ended, one that answers is not', async () => {
  const hub = await testHub({ clocks: { ping: 100, pong: 60, grace: 10 } });
  const deaf = await join1(hub, 'deaf');
  const alive = await join1(hub, 'alive');
  deaf.socket.pause();
  const names = async () => {
    alive.send({ type: 'who' });
    return (await alive.next('who')).payload.agents.map(({ name }: { name: string }) => name);
  };
  while ((await names()).includes('deaf')) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(await names()).toEqual(['alive']);
});
