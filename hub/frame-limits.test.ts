import { expect, test } from 'vitest';
import { join0, join1, testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { helloPeer, type Peer } from '../test/helpers/peer.ts';

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const route = (payload: string) => `{"type":"route","from":"a","to":"b","task_id":"","payload":${payload}}`;

/** Checks that `peer` has heard exactly `count` messages, and no more are on their way. */
async function heard(peer: Peer, count: number): Promise<void> {
  const routes = () => peer.frames.filter(({ type }) => type === 'route').length;
  await expect.poll(routes, { interval: 2, timeout: 10_000 }).toBeGreaterThanOrEqual(count);
  await peer.ping();
  expect(routes()).toBe(count);
}

test('R-HUB-80: JSON is read to a depth of 64, the frame itself counted, and to 1,000 keys at its top', async () => {
  const hub = await testHub();
  const [a, b] = [await join0(hub, 'a'), await join0(hub, 'b')];
  const verdict = async (text: string) => {
    a.socket.send(text);
    return Promise.race([
      a.next('error').then(({ payload }) => payload.code as string),
      b.next('route').then(() => 'taken'),
    ]);
  };
  expect(await verdict(route(nested(63)))).toBe('taken');
  expect(await verdict(route(nested(64)))).toBe('bad_frame');
  expect(await verdict(route(`{"a":${nested(62)}}`))).toBe('taken');
  expect(await verdict(route(`{"a":${nested(63)}}`))).toBe('bad_frame');
  const keys = (count: number) =>
    route('1').replace('}', `,${Array.from({ length: count - 5 }, (_, index) => `"k${index}":1`).join(',')}}`);
  expect(await verdict(keys(1000))).toBe('taken');
  expect(await verdict(keys(1001))).toBe('bad_frame');
  expect(await verdict(route(`{${keys(1500).slice(1, -1)}}`))).toBe('taken');
});

test('R-HUB-80: the limits of a hub are its own, and a client is told of them', async () => {
  const hub = await testHub({
    limits: { maxBytes: 2000, maxPayload: 4000, depth: 4, keys: 6, maxInflight: 7, rate: 9, burst: 90 },
  });
  const { peer: a, welcome } = await helloPeer(hub.url, 'a');
  expect(welcome.payload.limits).toEqual({ max_bytes: 2000, max_inflight: 7, rate: 9, burst: 90 });
  const code = async (text: string) => {
    a.socket.send(text);
    return (await a.next('error')).payload.code;
  };
  expect(await code(route(JSON.stringify('x'.repeat(2000))))).toBe('too_large');
  expect(await code(route(nested(4)))).toBe('bad_frame');
  expect(await code('{"type":"ping","a":1,"b":1,"c":1,"d":1,"e":1,"f":1}')).toBe('bad_frame');
  await a.ping();
  a.socket.send(route(JSON.stringify('x'.repeat(4000))));
  expect(await a.end()).toMatchObject({ code: 1009 });
});

test('R-HUB-80: fragments are measured as the frame they make, however many there are', async () => {
  const hub = await testHub();
  const [a, b] = [await join0(hub, 'a'), await join0(hub, 'b')];
  const text = route(JSON.stringify('x'.repeat(1000)));
  for (const [index, character] of [...text].entries()) a.socket.send(character, { fin: index === text.length - 1 });
  expect((await b.next('route')).payload).toHaveLength(1000);
  const half = 'x'.repeat(600 * 1024);
  a.socket.send(`{"type":"route","to":"b","payload":"${half}`, { fin: false });
  a.socket.send(`${half}"}`, { fin: true });
  expect(await a.end()).toMatchObject({ code: 1009 });
  await b.ping();
});

test('R-HUB-80: 1,000 tiny frames at once are read at the rate, in order, with none lost, and the others are served meanwhile', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock });
  const [a, b] = [await join1(hub, 'a'), await join0(hub, 'b')];
  for (let count = 0; count < 1000; count += 1) a.send({ type: 'route', to: 'b', payload: count });
  // 400 at once, of which hello was one, and the rest at 200 a second, however many one read of the socket brings
  await heard(b, 399);
  for (let read = 399; read < 999; read += 100) {
    clock.advance(499);
    await heard(b, read + 99);
    clock.advance(1);
    await heard(b, read + 100);
  }
  clock.advance(5);
  await heard(b, 1000);
  const payloads = b.frames.filter(({ type }) => type === 'route').map(({ payload }) => payload);
  expect(payloads).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  const complaints = a.frames.filter(({ payload }) => payload?.code === 'rate_limited');
  expect(complaints.length).toBeGreaterThan(0);
  expect(complaints.length).toBeLessThan(5);
  expect(complaints[0]?.payload).toMatchObject({ retryable: true, retry_after_ms: 5 });
});

test('R-HUB-80: with a rate of 0 a sender is as fast as it likes', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, limits: { rate: 0 } });
  const [a, b] = [await join1(hub, 'a'), await join0(hub, 'b')];
  for (let count = 0; count < 1000; count += 1) a.send({ type: 'route', to: 'b', payload: count });
  await b.wait(({ payload }) => payload === 999);
  expect(clock.monotonic()).toBe(0);
});

test('R-HUB-80: a sender is slowed down by its bytes too', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock, limits: { bytesPerSecond: 1_000_000 } });
  const [a, b] = [await join1(hub, 'a'), await join0(hub, 'b')];
  for (let count = 0; count < 30; count += 1) a.send({ type: 'route', to: 'b', payload: 'x'.repeat(110_000) });
  for (const count of [9, 18, 27, 30]) {
    await heard(b, count);
    clock.advance(1000);
  }
});

test('R-HUB-80: no more bytes than the window has are sent unacknowledged', async () => {
  const hub = await testHub({ limits: { maxInflightBytes: 100_000 } });
  const [a, b] = [await join1(hub, 'a'), await join1(hub, 'b')];
  b.acks = false;
  for (let count = 0; count < 6; count += 1) a.send({ type: 'route', to: 'b', payload: 'x'.repeat(40_000) });
  await a.ping();
  await b.ping();
  const heard = b.frames.filter(({ type }) => type === 'route');
  // The one that goes over the edge is still sent.
  expect(heard).toHaveLength(3);
  b.acks = true;
  b.send({ type: 'ack', payload: { seq: heard.at(-1)?.seq } });
  await expect.poll(() => b.frames.filter(({ type }) => type === 'route')).toHaveLength(6);
});

test('R-HUB-80: a mailbox is full by its bytes too', async () => {
  const hub = await testHub({ limits: { mailboxBytes: 100_000 } });
  const a = await join1(hub, 'a');
  await (await join1(hub, 'away')).close();
  for (let count = 0; count < 3; count += 1) a.send({ type: 'route', to: 'away', payload: 'x'.repeat(40_000) });
  a.send({ type: 'route', to: 'away', payload: 'one too many' });
  expect((await a.next('error')).payload).toMatchObject({ code: 'mailbox_full', retryable: true });
});
