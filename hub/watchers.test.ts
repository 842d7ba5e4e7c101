import { expect, test } from 'vitest';
import { frames } from '../protocol/index.ts';
import { join0, join1, testHub } from '../test/helpers/hub.ts';
import type { PeerFrame } from '../test/helpers/peer.ts';
import type { Connection } from './connection.ts';
import type { Post } from './post.ts';
import { openStorage } from './sqlite-storage.ts';
import type { StoredMessage } from './storage.ts';
import { Watchers } from './watchers.ts';

test('R-HUB-16: a watcher whose buffer is full while it catches up misses nothing when the buffer has room before it drains', async () => {
  const { storage } = await openStorage(':memory:');
  let push: (message: StoredMessage) => void = () => undefined;
  const post = {
    listen: (listener: typeof push) => {
      push = listener;
    },
  };
  const seen: number[] = [];
  const peer = { name: 'w', open: true, queued: 0, sendLogged: ({ lsn }: StoredMessage) => seen.push(lsn) };
  const connection = peer as unknown as Connection;
  const watchers = new Watchers(post as unknown as Post, storage, 100);
  const say = async () => {
    const body = Buffer.from('{}');
    const row = { type: 'route', from: 'a', to: 'b', box: null, taskId: '', id: 'i', attempt: null, body };
    const [lsn = 0] = await storage.commit([{ kind: 'message', row }], 1);
    push({ ...row, lsn, ts: 1 });
  };
  await say();
  const watch = { type: 'watch', from: 'w', to: 'hub', task_id: '', payload: { after_lsn: 0 } };
  peer.queued = 1000;
  watchers.add(connection, frames.watch.parse(watch), 1);
  peer.queued = 0;
  await say();
  watchers.drained(connection);
  await expect.poll(() => seen).toEqual([1, 2]);
});

/** The number that the event in a watched frame has. */
function numberIn({ payload }: PeerFrame): number | undefined {
  return payload?.frame?.payload.event.number;
}

test('R-HUB-16: a watch that catches up behind a burst larger than its buffer has all of it once and in order, at the pace of its reader', async () => {
  const soft = 64 * 1024;
  const hub = await testHub({ limits: { rate: 0, softBuffer: soft } });
  const sender = await join1(hub, 'sender');
  const text = 'x'.repeat(16 * 1024);
  let sent = 0;
  const say = async (count: number) => {
    for (let index = 0; index < count; index += 1) {
      const event = { type: 'noted', number: sent++, text };
      sender.send({ type: 'task.event', task_id: 'run', payload: { event } });
    }
    await sender.wait(({ type, payload }) => type === 'accepted' && payload.upto === sent + 1);
  };
  await say(400);
  const [slow, quick] = [await join0(hub, 'slow'), await join0(hub, 'quick')];
  slow.socket.pause();
  for (const peer of [slow, quick]) peer.send({ type: 'watch', payload: { after_lsn: 0, agent: 'sender' } });
  await quick.wait((frame) => numberIn(frame) === 200);
  await say(400);
  const last = (frame: PeerFrame) => numberIn(frame) === 799;
  await quick.wait(last);
  // more than a socket takes waits for the slow one: on disk, but for its buffer and a page of the log
  expect(slow.frames).toEqual([]);
  const metrics = await (await fetch(`http://127.0.0.1:${hub.port}/metrics`)).text();
  const waiting = Number(/^hub_out_buffer_bytes\{agent="slow"\} (\d+)$/m.exec(metrics)?.[1]);
  expect(waiting).toBeGreaterThan(soft);
  expect(waiting).toBeLessThan(soft + 512 * 1024);
  slow.socket.resume();
  await slow.wait(last);
  const all = Array.from({ length: 800 }, (_, index) => index);
  for (const peer of [quick, slow]) {
    const events = peer.frames.filter(({ type }) => type === 'event');
    expect(events.map(numberIn)).toEqual(all);
  }
});
