import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import { createCnbForge, readConnection, readTrigger } from '../cnb/index.ts';
import { type HubPair, startHubPair } from '../test/helpers/hub-pair.ts';
import { type CnbServer, startCnbServer } from '../testing/cnb-server.ts';
import { type Claim, claimThread, firstBody } from './claim.ts';
import type { Forge } from './forge.ts';
import { openJournal } from './journal.ts';
import { readMarker, writeMarker } from './report/marker.ts';
import { runKeyOf } from './run-key.ts';

const slug = 'team/web/shop';
let server: CnbServer;
let pairs: HubPair[];
let forge: Forge;
let runKey: string;

beforeEach(async () => {
  pairs = [];
  server = await startCnbServer({ lock: false, startRun: () => execa('cat', { reject: false }) });
  const mention = server.defineNpc({ slug: 'team/agents', name: 'Agent' });
  server.createUser({ username: 'alice' });
  await server.createRepository({ slug, from: { 'a.txt': 'one\n' } });
  server.createIssue({ slug, author: 'alice', title: 'Broken', body: 'It is broken.' });
  server.comment({ slug, number: '1', author: 'alice', body: `${mention} fix it`, workMode: true });
  const build = server.builds.at(-1);
  await expect.poll(() => build?.status, { interval: 5 }).toBe('start');
  const env = { ...build?.env };
  const reading = readTrigger(env);
  if (reading.kind !== 'run' || !reading.trigger.thread) throw new Error(JSON.stringify(reading));
  runKey = runKeyOf(reading.trigger.thread);
  forge = createCnbForge({ connection: readConnection(env), thread: reading.trigger.thread, log: silentLog() });
});
afterEach(async () => {
  await Promise.all(pairs.map((pair) => pair.close()));
  await server.close();
});

/** Claims as a process of its own would: with a log of its own. */
async function claim(how: { isRetry?: boolean; now?: number } = {}): Promise<Claim> {
  const pair = await startHubPair();
  pairs.push(pair);
  const journal = await openJournal(await pair.connect('coordinator'), runKey, ['coordinator'], () => {});
  const now = how.now ?? Date.now();
  const body = firstBody(runKey, '### working', now + 60_000);
  return claimThread({ forge, journal, language: 'zh-CN', isRetry: how.isRetry ?? false, body, now, logLost: false });
}

const ourComments = (): { id: string; body: string }[] =>
  server.thread(slug, '1').comments.filter(({ body }) => readMarker(body) !== undefined);

test('R-RUN-12: the first run posts its comment with the marker', async () => {
  expect(await claim()).toMatchObject({ kind: 'ours', author: { isNpc: true } });
  expect(ourComments()).toHaveLength(1);
  expect(readMarker(ourComments()[0]?.body ?? '')).toMatchObject({ runKey, state: 'live' });
});

test('R-RUN-12: of ten runs at the same time one goes on, and the others are one-line pointers or silent', async () => {
  const claims = await Promise.all(Array.from({ length: 10 }, () => claim()));
  expect(claims.filter(({ kind }) => kind === 'ours')).toHaveLength(1);
  const states = ourComments().map(({ body }) => readMarker(body)?.state);
  expect(states.filter((state) => state === 'live')).toHaveLength(1);
  for (const { body } of ourComments().slice(1)) expect(body.split('\n')).toHaveLength(2);
});

test('R-RUN-12: a later delivery leaves a live comment alone, and takes over one whose time is past', async () => {
  await claim();
  expect(await claim()).toMatchObject({ kind: 'taken' });
  const later = await claim({ now: Date.now() + 3_600_000 });
  expect(later).toMatchObject({ kind: 'ours', commentId: ourComments()[0]?.id });
  expect(ourComments()).toHaveLength(1);
});

test.each([
  ['green', false, 'taken'],
  ['green', true, 'taken'],
  ['red', false, 'taken'],
  ['red', true, 'ours'],
  ['partial', true, 'ours'],
])('R-RUN-12: a %s comment, rebuilt by a person: %s, is %s', async (verdict, isRetry, kind) => {
  const first = await claim();
  if (first.kind !== 'ours') throw new Error(first.reason);
  await forge.updateComment(first.commentId, `${writeMarker({ runKey, state: 'final', verdict })}\ntext`);
  expect(await claim({ isRetry })).toMatchObject({ kind });
  expect(ourComments()).toHaveLength(1);
});

test('R-RUN-12: a marker that a person copied into a comment of their own counts for nothing', async () => {
  const body = firstBody(runKey, '### working', Date.now() + 60_000);
  server.comment({ slug, number: '1', author: 'alice', body });
  expect(await claim()).toMatchObject({ kind: 'ours', author: { isNpc: true } });
});
