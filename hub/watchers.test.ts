import { expect, test } from 'vitest';
import { frames } from '../protocol/index.ts';
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
