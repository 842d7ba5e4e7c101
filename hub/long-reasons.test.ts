import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assign, crew, takeUp, taskRow } from '../test/helpers/crew.ts';
import { join1, result, testFolder, testHub } from '../test/helpers/hub.ts';
import type { Peer } from '../test/helpers/peer.ts';
import { message, task } from '../test/helpers/storage-conformance/rows.ts';
import { openStorage } from './sqlite-storage.ts';

const LONG = 'r'.repeat(400_000);

/** A log in which a task was given and given back so often, each time with a reason of 400 KB, and who had its first attempts. */
async function longWords(times: number): Promise<string> {
  const database = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(database);
  await storage.commit([{ kind: 'task', task: task('t1', { attempt: times }), expect: null }], 1);
  for (let attempt = 1; attempt <= times; attempt += 1) {
    const words = [
      { sub_state: 'offered', agent: 'coder-1', reason: 'offered to coder-1' },
      { sub_state: 'queued', agent: null, reason: LONG },
    ];
    await storage.commit(
      words.map((word) =>
        message({
          type: 'task.status',
          from: 'hub',
          to: 'owner',
          taskId: 't1',
          attempt,
          payload: { attempt, ...word },
        }),
      ),
      attempt,
    );
  }
  await storage.close();
  return database;
}

/** A store that counts the bytes that `latest` hands out, and how often it is asked. */
function counted() {
  const seen = { asked: 0, most: 0 };
  return {
    seen,
    openStorage: async (path: string) => {
      const { storage, ...rest } = await openStorage(path);
      const latest: typeof storage.latest = async (...values) => {
        const page = await storage.latest(...values);
        seen.asked += 1;
        seen.most = Math.max(
          seen.most,
          page.reduce((sum, { body }) => sum + body.length, 0),
        );
        return page;
      };
      return { storage: { ...storage, latest }, ...rest };
    },
  };
}

async function refusal(peer: Peer, attempt: number): Promise<string> {
  const id = peer.send({ type: 'task.result', task_id: 't1', attempt, payload: result('late') });
  return (await peer.next('error', ({ ref }) => ref === id)).payload.code;
}

test('R-HUB-117: what late results cost is bounded in bytes, and one look into the log does for all of them', async () => {
  const { seen, openStorage: open } = counted();
  const hub = await testHub({ database: await longWords(12), openStorage: open, limits: { rate: 0 } });
  const owner = await join1(hub, 'owner');
  const strangers = await Promise.all(['eve', 'mallory', 'trudy'].map((name) => join1(hub, name)));
  seen.asked = 0;
  expect(await Promise.all(strangers.map((stranger) => refusal(stranger, 2)))).toEqual(
    strangers.map(() => 'stale_attempt'),
  );
  // A page goes beyond its bytes by one message at most.
  expect(seen.most).toBeLessThan(256 * 1024 + 2 * LONG.length);
  const once = seen.asked;
  expect(once).toBeLessThan(20);
  for (const stranger of strangers) await refusal(stranger, 3);
  expect(seen.asked).toBe(once);
  const holder = await join1(hub, 'coder-1');
  await refusal(holder, 10);
  await owner.next('task.status', ({ payload }) => payload.reason === 'stale result of attempt 10 by coder-1');
});

test('R-HUB-117: of a reason the hub tells no more than the row of its task keeps', async () => {
  const hub = await testHub({ limits: { rate: 0 } });
  const { owner, workers } = await crew(hub, 'coder-1');
  assign(owner, 't1');
  await takeUp(workers[0]);
  workers[0].send({ type: 'task.release', task_id: 't1', attempt: 1, payload: { reason: LONG } });
  const told = await owner.next('task.status', ({ payload }) => payload.reason.startsWith('rrr'));
  expect(told.payload.reason).toBe(LONG.slice(0, 2000));
  await takeUp(workers[0], 2);
  owner.send({ type: 'task.cancel', task_id: 't1', payload: { reason: LONG } });
  await workers[0].next('task.cancel');
  expect((await taskRow(owner, 't1')).reason).toBe(LONG.slice(0, 2000));
});

test('R-HUB-117: a timeline ends at about 2 MB, and says what is left out', async () => {
  const hub = await testHub({ database: await longWords(8) });
  const answer = await fetch(`http://127.0.0.1:${hub.port}/v1/tasks/t1/timeline`);
  const text = await answer.text();
  expect(text.length).toBeLessThan(100_000);
  const { attempts } = JSON.parse(text);
  expect(attempts).toHaveLength(8);
  expect(attempts[0].reason).toBe(LONG.slice(0, 2000));
});

test('R-HUB-117: a timeline of very many attempts and frames tells the last attempts, and where to go on with the frames', async () => {
  const database = join(await testFolder(), 'log.db');
  const { storage } = await openStorage(database);
  const count = 6000;
  const word = (index: number) => ({
    attempt: 1,
    sub_state: index % 2 ? 'queued' : 'offered',
    agent: 'coder-1',
    reason: `${index} `.padEnd(500, 'r'),
  });
  await storage.commit(
    [
      { kind: 'task', task: task('t1'), expect: null },
      ...Array.from({ length: count }, (_, index) =>
        message({ type: 'task.status', from: 'hub', to: 'owner', taskId: 't1', attempt: 1, payload: word(index) }),
      ),
    ],
    1,
  );
  await storage.close();
  const hub = await testHub({ database });
  const text = await (await fetch(`http://127.0.0.1:${hub.port}/v1/tasks/t1/timeline?limit=10000`)).text();
  expect(text.length).toBeLessThan(2_200_000);
  const { attempts, attempts_left_out: leftOut } = JSON.parse(text);
  expect(leftOut).toBeGreaterThan(0);
  expect(attempts.length + leftOut).toBe(count / 2);
  expect(attempts.at(-1).reason).toMatch(/^5999 /);
});
