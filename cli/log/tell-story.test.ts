import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunningHub } from '../../hub/index.ts';
import { join1, result, testFolder, testHub } from '../../test/helpers/hub.ts';
import type { Peer } from '../../test/helpers/peer.ts';
import { hubSource } from '../read/hub-source.ts';
import type { Source } from '../read/source.ts';
import { stateSource } from '../read/state-source.ts';
import { storyTree } from '../show/story-tree.ts';
import { widthOf } from '../show/width.ts';
import { storyOf } from './tell-story.ts';

interface Stage {
  readonly hub: RunningHub;
  readonly owner: Peer;
  readonly folder: string;
}

async function stage(): Promise<Stage> {
  const folder = await testFolder();
  const hub = await testHub({
    database: join(folder, 'log.db'),
    clocks: { grace: 30, backoffBase: 1 },
    limits: { rate: 0 },
  });
  return { hub, owner: await join1(hub, 'owner'), folder };
}

const event = (task_id: string, attempt: number, fields: object) => ({
  type: 'task.event',
  task_id,
  attempt,
  payload: { event: fields },
});
const call = (name: string) => ({ type: 'tool.started', call_id: 'c', name, origin: 'native', args_hash: 'h' });
const called = (name: string, ok: boolean) => ({
  ...{ type: 'tool.finished', call_id: 'c', name, origin: 'native', args_hash: 'h', result_hash: 'r', ms: 1 },
  ok,
});

async function lines(source: Source, name: string, full = false): Promise<string[]> {
  return storyTree(await storyOf(source, name, full), { now: Date.now() });
}

/** A task that a first coder loses and a second one does, with a question, a sub-task, and a late result of the first. */
async function play({ hub, owner }: Stage): Promise<void> {
  const payload = { goal: '修复满减', constraints: ['只改一处'] };
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 'k.code', payload });
  const first = await join1(hub, 'coder-1', { roles: ['coder'] });
  await first.next('task.assign');
  first.send({ type: 'task.accept', task_id: 'k.code', attempt: 1, payload: null });
  first.send(event('k.code', 1, call('bash')));
  first.send(event('k.code', 1, called('bash', false)));
  await first.ping();
  await first.close();
  await owner.next('task.status', ({ payload }) => payload.sub_state === 'queued');
  const second = await join1(hub, 'coder-2', { roles: ['coder'] });
  await second.next('task.assign');
  second.send({ type: 'task.accept', task_id: 'k.code', attempt: 2, payload: null });
  for (const name of ['bash', 'read', 'read']) second.send(event('k.code', 2, call(name)));
  second.send({ type: 'task.progress', task_id: 'k.code', attempt: 2, payload: { note: 'reads src' } });
  second.send({ type: 'task.input', task_id: 'k.code', attempt: 2, id: 'q', payload: { question: 'which cart?' } });
  await owner.next('task.input');
  owner.send({ type: 'task.answer', task_id: 'k.code', ref: 'q', payload: { text: '两个都改' } });
  await second.next('task.answer');
  const options = { parent: 'k.code' };
  owner.send({ type: 'task.assign', to: 'role:helper', task_id: 'helper', payload: { goal: 'look', options } });
  owner.send({ type: 'task.assign', to: 'role:nobody', task_id: 'k.code.r1', payload: { goal: 'again' } });
  await owner.ping();
  const late = await join1(hub, 'coder-1', { roles: ['other'] });
  late.send({ type: 'task.result', task_id: 'k.code', attempt: 1, payload: result('too late') });
  await owner.next('task.status', ({ payload }) => /stale/.test(payload.reason));
  const issues = [{ severity: 'note', message: 'n' }];
  second.send({ type: 'task.result', task_id: 'k.code', attempt: 2, payload: { ...result('改好了'), issues } });
  await owner.next('task.result');
}

test('R-CLI-21: a story tells attempts, waits, steps with latencies and sizes, the stale result and the sub-tasks', async () => {
  const place = await stage();
  await play(place);
  const sources = [await stateSource(place.folder), await hubSource(place.hub.url, 2000)];
  const told = await lines(sources[0] as Source, 'k.code');
  const span = '\\d+(ms|\\.\\ds|s)';
  const expected = [
    `^k\\.code  done  ${span}  2 attempts  \\d+ messages, [\\d.]+ KB$`,
    '^├─ ..:..:..  owner asked role:coder, \\d+ B, 1 constraint: 修复满减$',
    `^├─ ..:..:..  attempt 1  coder-1  lost  ${span}$`,
    `^│  ├─ offered after ${span} in the queue$`,
    `^│  ├─ \\+${span}  accepted by coder-1$`,
    `^│  ├─ \\+${span}  worked: 1 tool call \\(bash 1; 1 failed\\), \\d+ B$`,
    `^│  └─ \\+${span}  lost: .*coder-1`,
    `^├─ ..:..:..  attempt 2  coder-2  success  ${span}$`,
    `^│  ├─ offered after ${span} in the queue$`,
    `^│  ├─ \\+${span}  accepted by coder-2$`,
    `^│  ├─ \\+${span}  worked: 3 tool calls \\(read 2, bash 1\\), 1 sign of life, \\d+ B; last: reads src$`,
    `^│  ├─ \\+${span}  coder-2 asked \\(26 B\\): which cart\\?$`,
    `^│  ├─ \\+${span}  owner answered \\(23 B\\): 两个都改$`,
    `^│  └─ \\+${span}  result success, \\d+ B, 1 issue: 改好了$`,
    '^├─ helper  pending \\(queued\\)  0s  0 attempts',
    '^│  ├─ ..:..:..  owner asked role:helper, \\d+ B: look$',
    '^│  └─ in the queue for role:helper since ',
    '^├─ k\\.code\\.r1  pending \\(queued\\)  0s  0 attempts',
    '^│  ├─ ..:..:..  owner asked role:nobody, \\d+ B: again$',
    '^│  └─ in the queue for role:nobody since ',
    '^└─ ..:..:..  STALE result of attempt 1 by coder-1, not applied: success, \\d+ B: too late$',
  ];
  expect(told).toEqual(expected.map((pattern) => expect.stringMatching(new RegExp(pattern))));
  // the same from the hub, by the end of the id, and for the run as a whole
  expect((await lines(sources[1] as Source, 'code')).slice(1, 3)).toEqual(told.slice(1, 3));
  expect(await lines(sources[0] as Source, 'k')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^k {2}1 task/), expect.stringMatching(/^└─ k\.code {2}done/)]),
  );
  const full = await lines(sources[0] as Source, 'k.code', true);
  expect(full.filter((line) => /task\.event {2}tool\.started/.test(line))).toHaveLength(4);
  expect(full.join('\n')).not.toContain('worked:');
  for (const source of sources) await source.close();
});

test('R-CLI-21: no line of a story is wider than the terminal, in Chinese too', async () => {
  const { folder, owner } = await stage();
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't', payload: { goal: '满减'.repeat(200) } });
  await owner.ping();
  const source = await stateSource(folder);
  const told = storyTree(await storyOf(source, 't', false), { now: Date.now(), columns: 60 });
  for (const line of told) expect(widthOf(line)).toBeLessThanOrEqual(60);
  await source.close();
});

test('R-CLI-21: a task that is not there is told with the nearest ids, one that is not clear with those it can be', async () => {
  const { folder, owner } = await stage();
  for (const task_id of ['a.code', 'b.code', 'a.review']) owner.send({ type: 'register_task', task_id });
  await owner.ping();
  const source = await stateSource(folder);
  await expect(storyOf(source, 'a.reviw', false)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringMatching(/no task a\.reviw; the nearest are: a\.review, /),
  });
  await expect(storyOf(source, 'code', false)).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('several tasks are called code: a.code, b.code'),
  });
  expect(await storyOf(source, 'review', false)).toMatchObject({ id: 'a.review' });
  await source.close();
});

test('R-CLI-21: a task that is registered again after it was assigned is told by its assignment', async () => {
  const { hub, owner } = await stage();
  owner.send({ type: 'register_task', task_id: 't1', payload: { goal: 'not yet' } });
  owner.send({ type: 'task.assign', to: 'role:coder', task_id: 't1', payload: { goal: 'the real goal' } });
  owner.send({ type: 'register_task', task_id: 't1', payload: {} });
  await owner.ping();
  const story = await storyOf(await hubSource(hub.url, 2000), 't1', false);
  expect(story.asked).toMatchObject({ goal: 'the real goal', to: 'role:coder' });
});
