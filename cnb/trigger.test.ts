import { expect, test } from 'vitest';
import { runKeyOf } from '../coordinator/run-key.ts';
import { deadlineOf } from './deadline.ts';
import { languageOf } from './language.ts';
import { completeTrigger, readTrigger } from './trigger.ts';
import type { Environment } from './variables.ts';

const now = Date.parse('2026-11-30T10:05:00Z');

const common = {
  CNB_REPO_SLUG: 'team/web/shop',
  CNB_TOKEN: 'x',
  CNB_BRANCH: 'main',
  CNB_DEFAULT_BRANCH: 'main',
  CNB_BUILD_USER: 'alice',
  CNB_BUILD_WORKSPACE: '/workspace',
  CNB_NPC_SLUG: 'team/agents',
  CNB_NPC_NAME: 'Agent',
};

const issue: Environment = {
  ...common,
  CNB_EVENT: 'issue.comment@npc',
  CNB_ISSUE_IID: '7',
  CNB_ISSUE_TITLE: 'Login fails',
  CNB_ISSUE_DESCRIPTION: 'It fails since Monday.',
  CNB_COMMENT_ID: '2086360222186463232',
  CNB_COMMENT_BODY: '@team/agents(Agent) fix the login please',
  CNB_NPC_TRIGGER_CONTENT: '@team/agents(Agent) fix the login please',
};

const pull: Environment = {
  ...common,
  CNB_EVENT: 'pull_request.comment@npc',
  CNB_PULL_REQUEST_IID: '9',
  CNB_PULL_REQUEST_BRANCH: 'topic',
  CNB_PULL_REQUEST_SLUG: 'team/web/shop',
  CNB_PULL_REQUEST_TITLE: 'Topic',
  CNB_COMMENT_ID: '2086360222186463233',
  CNB_COMMENT_BODY: '@Agent review it thoroughly',
};

const read = (env: Environment, changes: Environment = {}) => readTrigger({ ...env, ...changes }, { now: () => now });

function run(env: Environment, changes: Environment = {}) {
  const reading = read(env, changes);
  if (reading.kind !== 'run') throw new Error(JSON.stringify(reading));
  return reading.trigger;
}

test('R-CNB-5: an issue comment becomes a trigger', () => {
  expect(run(issue)).toEqual({
    request: 'fix the login please',
    language: 'en',
    thread: { slug: 'team/web/shop', kind: 'issue', number: '7', occasion: '2086360222186463232' },
    actor: 'alice',
    role: 'Agent',
    workMode: false,
    workspace: '/workspace',
    baseBranch: 'main',
    isRetry: false,
  });
});

test('R-CNB-5: both events are read with and without @npc', () => {
  expect(run(issue, { CNB_EVENT: 'issue.comment' })).toEqual(run(issue));
  expect(run(pull, { CNB_EVENT: 'pull_request.comment' })).toEqual(run(pull));
});

test('R-CNB-5: a pull request comment names the user branch, and the target as base', () => {
  expect(run(pull, { CNB_BRANCH: 'release' })).toMatchObject({
    thread: { kind: 'pr', number: '9' },
    baseBranch: 'release',
    pullBranch: 'topic',
  });
});

test('R-CNB-5: a mention in a description, a review and an inline comment have occasions of their own', () => {
  const none = { CNB_COMMENT_ID: '', CNB_COMMENT_BODY: '', CNB_NPC_TRIGGER_CONTENT: '' };
  const description = { ...none, CNB_ISSUE_DESCRIPTION: '@Agent fix the login' };
  expect(run(issue, description)).toMatchObject({ request: 'fix the login', thread: { occasion: 'description' } });
  const review = { ...none, CNB_REVIEW_ID: '55', CNB_REVIEW_DESCRIPTION: '@Agent mend this' };
  expect(run(pull, review)).toMatchObject({ request: 'mend this', thread: { occasion: 'review-55' } });
  const inline = { CNB_REVIEW_ID: '55', CNB_COMMENT_FILE_PATH: 'src/a.ts', CNB_COMMENT_RANGE: 'L12-L16' };
  expect(run(pull, inline)).toMatchObject({
    thread: { occasion: '2086360222186463233' },
    inline: { path: 'src/a.ts', range: 'L12-L16' },
  });
});

test('R-CNB-5: the trigger text comes before the comment, the comment before the description', () => {
  expect(run(issue, { CNB_NPC_TRIGGER_CONTENT: '@Agent the first' }).request).toBe('the first');
  expect(run(issue, { CNB_NPC_TRIGGER_CONTENT: '' }).request).toBe('fix the login please');
});

test('R-CNB-5: a description that is a mention alone asks for what the title says', () => {
  const bare = {
    CNB_COMMENT_ID: '',
    CNB_COMMENT_BODY: '',
    CNB_NPC_TRIGGER_CONTENT: '@Agent',
    CNB_ISSUE_DESCRIPTION: '@Agent',
  };
  expect(run(issue, bare).request).toBe('Login fails');
});

test('R-CNB-5: work mode, rebuild, build page and fork are read', () => {
  const changes = { CNB_NPC_ENABLE_WORKMODE: 'true', CNB_IS_RETRY: 'true', CNB_BUILD_WEB_URL: 'https://cnb.cool/x' };
  expect(run(issue, changes)).toMatchObject({ workMode: true, isRetry: true, buildUrl: 'https://cnb.cool/x' });
  const fork = run(pull, { CNB_PULL_REQUEST_SLUG: 'bob/shop' });
  expect(fork.forkSlug).toBe('bob/shop');
  expect(fork.pullBranch).toBeUndefined();
  expect(run(pull, { CNB_PULL_REQUEST_SLUG: 'Team/Web/Shop' }).forkSlug).toBeUndefined();
});

test.each([
  ['an unknown event', { CNB_EVENT: 'push' }, 'push'],
  ['our own mention', { CNB_BUILD_USER_NPC_SLUG: 'Team/Agents', CNB_BUILD_USER_NPC_NAME: 'Agent' }, 'itself'],
  ['our own mention by a name alone', { CNB_BUILD_USER_NPC_NAME: 'Agent' }, 'itself'],
  [
    'a comment without a mention',
    { CNB_EVENT: 'issue.comment', CNB_NPC_NAME: '', CNB_NPC_SLUG: '', CNB_NPC_TRIGGER_CONTENT: '' },
    'no agent',
  ],
  ["somebody else's mention", { CNB_COMMENT_BODY: '@other/bots(Agent) fix it' }, '@other/bots(Agent)'],
])('R-CNB-6: %s is not for us, in one line', (_what, changes, words) => {
  const reading = read(issue, changes);
  expect(reading).toMatchObject({ kind: 'not_for_us', reason: expect.stringContaining(words) });
  expect(JSON.stringify(reading)).not.toContain('\\n');
});

test('R-CNB-6: another agent may start us, and a text that mentions both is ours too', () => {
  expect(run(issue, { CNB_BUILD_USER_NPC_SLUG: 'other/bots', CNB_BUILD_USER_NPC_NAME: 'Agent' }).request).toBe(
    'fix the login please',
  );
  const both = '@other/bots(Helper) and @team/agents(Agent) fix it';
  expect(run(issue, { CNB_COMMENT_BODY: both, CNB_NPC_TRIGGER_CONTENT: both }).request).toContain(
    '@other/bots(Helper)',
  );
});

test('R-CNB-6: an agent that answers to some roles leaves the others alone', () => {
  expect(readTrigger(issue, { roles: ['Helper'] }).kind).toBe('not_for_us');
  expect(readTrigger(issue, { roles: ['Helper', 'Agent'] }).kind).toBe('run');
});

test('R-CNB-7: every missing variable is named', () => {
  const reading = readTrigger({});
  expect(reading.kind).toBe('unusable');
  for (const name of [
    'CNB_EVENT',
    'CNB_REPO_SLUG',
    'CNB_TOKEN',
    'CNB_NPC_NAME',
    'CNB_ISSUE_IID',
    'CNB_BUILD_USER',
    'CNB_BUILD_WORKSPACE',
    'CNB_DEFAULT_BRANCH',
  ]) {
    expect(reading).toMatchObject({ message: expect.stringContaining(name) });
  }
  expect(read(issue, { CNB_TOKEN: ' ' })).toMatchObject({
    kind: 'unusable',
    message: expect.stringContaining('missing: CNB_TOKEN.'),
  });
  expect(read(pull, { CNB_PULL_REQUEST_BRANCH: '' })).toMatchObject({
    kind: 'unusable',
    message: expect.stringContaining('CNB_PULL_REQUEST_BRANCH'),
  });
});

test.each([
  ['both numbers', issue, { CNB_PULL_REQUEST_IID: '9' }, 'CNB_PULL_REQUEST_IID'],
  ['an issue event with a pull request', pull, { CNB_EVENT: 'issue.comment@npc' }, 'CNB_EVENT'],
  ['a pull request event with an issue', issue, { CNB_EVENT: 'pull_request.comment@npc' }, 'CNB_EVENT'],
  ['a number that is none', issue, { CNB_ISSUE_IID: 'seven' }, 'seven'],
  ['a slug that is none', issue, { CNB_REPO_SLUG: 'shop' }, 'CNB_REPO_SLUG'],
  ['a text without its id', issue, { CNB_COMMENT_ID: '' }, 'CNB_COMMENT_ID'],
  ['a work mode that is neither', issue, { CNB_NPC_ENABLE_WORKMODE: 'maybe' }, 'maybe'],
])('R-CNB-8: variables that contradict each other (%s) are named', (_what, env, changes, words) => {
  expect(read(env, changes)).toMatchObject({
    kind: 'impossible',
    cause: 'misconfigured',
    message: expect.stringContaining(words),
  });
});

test('R-CNB-8: the comment about contradictory variables goes to the thread there is', () => {
  const reading = read(pull, { CNB_EVENT: 'issue.comment@npc' });
  expect(reading).toMatchObject({ trigger: { thread: { kind: 'pr', number: '9' } } });
});

test.each([
  ['@Agent', 'en'],
  ['  @team/agents(Agent)\n', 'en'],
])('R-CNB-9: an empty request %j needs input', (text, language) => {
  expect(read(issue, { CNB_NPC_TRIGGER_CONTENT: text, CNB_COMMENT_BODY: text })).toMatchObject({
    kind: 'impossible',
    cause: 'needs_input',
    trigger: { language, thread: { number: '7' } },
  });
});

test('R-CNB-4: dropped texts are marked, not taken for the description, and read again', async () => {
  const dropped = { CNB_NPC_TRIGGER_CONTENT: '', CNB_COMMENT_BODY: '' };
  const trigger = run(issue, dropped);
  expect(trigger).toMatchObject({ request: '', requestDropped: true });
  const forge = { readRequestText: () => Promise.resolve('@team/agents(Agent) 修复登录') };
  const complete = await completeTrigger(trigger, forge, 'team/agents');
  expect(complete).toMatchObject({ kind: 'run', trigger: { request: '修复登录', language: 'zh-CN' } });
  expect('requestDropped' in (complete.kind === 'run' ? complete.trigger : {})).toBe(false);
  const gone = await completeTrigger(trigger, { readRequestText: () => Promise.resolve(undefined) });
  expect(gone).toMatchObject({ kind: 'impossible', cause: 'needs_input' });
});

test.each([
  ['修一下登录', [], 'zh-CN'],
  ['修复 parser.ts 的 login bug', [], 'zh-CN'],
  ['Fix the 登录 button', [], 'en'],
  ['continue', ['登录失败'], 'zh-CN'],
  ['`代码里的字` rename this please', [], 'en'],
  ['https://cnb.cool/a/b', ['登录失败'], 'zh-CN'],
  ['ログインを直して', [], 'en'],
  ['', [], 'en'],
  ['', ['', '描述里有中文'], 'zh-CN'],
] as const)('R-CNB-21: the language of %j (around it %j) is %s', (request, around, language) => {
  expect(languageOf(request, ...around)).toBe(language);
});

test.each([
  ['an HTTP date', 'Mon, 30 Nov 2026 10:00:00 GMT', Date.parse('2026-11-30T12:00:00Z')],
  ['ISO 8601', '2026-11-30T10:00:00Z', Date.parse('2026-11-30T12:00:00Z')],
  ['nothing readable', 'soon', now + 7_200_000],
  ['a time in the future', '2026-11-30T11:00:00Z', now + 7_200_000],
  ['a start whose limit has passed', '2026-11-30T07:00:00Z', now + 7_200_000],
])('R-CNB-22: the deadline counts from %s', (_what, start, deadline) => {
  expect(deadlineOf({ limit: '7200000', start, now })).toBe(deadline);
});

test('R-CNB-22: without a limit there is no deadline', () => {
  expect(deadlineOf({ limit: undefined, start: '2026-11-30T10:00:00Z', now })).toBeUndefined();
  expect(deadlineOf({ limit: 'long', start: '2026-11-30T10:00:00Z', now })).toBeUndefined();
});

test('R-CNB-23: rebuilds share the run key, another occasion has another', () => {
  const thread = { slug: 'a/b', kind: 'issue', number: '1', occasion: '5' } as const;
  expect(runKeyOf(thread)).toMatch(/^[0-9a-f]{16}$/);
  expect(runKeyOf({ ...thread })).toBe(runKeyOf(thread));
  expect(runKeyOf({ ...thread, occasion: 'review-5' })).not.toBe(runKeyOf(thread));
  expect(runKeyOf({ ...thread, kind: 'pr' })).not.toBe(runKeyOf(thread));
});
