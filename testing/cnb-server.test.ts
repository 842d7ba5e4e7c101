import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CnbServer, type CnbServerOptions, type StartRun, startCnbServer } from './cnb-server.ts';

const slug = 'team/web/shop';
let server: CnbServer;
let mention: string;
let alice: string;
let scratch: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'npc-platform-'));
});

afterEach(async () => {
  await server.close();
  await rm(scratch, { recursive: true, force: true });
});

async function start(options: CnbServerOptions = {}): Promise<void> {
  server = await startCnbServer(options);
  mention = server.defineNpc({ slug: 'team/agents', name: 'Agent', prompt: 'Be short.' });
  alice = server.createUser({ username: 'alice' }).token;
  await server.createRepository({ slug, from: { 'a.txt': 'one\n' } });
}

/** A stage that runs a shell command with the platform's variables. */
function shell(command: string): StartRun {
  return (env, cwd) =>
    spawn('sh', ['-c', command], { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly token?: string;
  readonly accept?: string;
}

async function ask(path: string, asked: Asked = {}): Promise<{ status: number; body: unknown; headers: Headers }> {
  const response = await fetch(`${server.apiUrl}/${path}`, {
    method: asked.method ?? (asked.body === undefined ? 'GET' : 'POST'),
    headers: {
      accept: asked.accept ?? 'application/vnd.cnb.api+json',
      authorization: `Bearer ${asked.token ?? alice}`,
      'content-type': 'application/json',
    },
    ...(asked.body !== undefined && { body: typeof asked.body === 'string' ? asked.body : JSON.stringify(asked.body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
}

test('R-PLATFORM-1: a request is refused as the platform does: accept, token, scope, repository, path, body', async () => {
  await start({ startRun: shell('sleep 20') });
  await server.createRepository({ slug: 'team/other' });
  server.createIssue({ slug, author: 'alice', title: 'One', body: mention });
  await expect.poll(() => server.builds[0]?.status).toBe('start');
  const token = server.builds[0]?.env.CNB_TOKEN ?? '';
  const refusals = [
    [await ask(`${slug}/-/issues/1`, { accept: '*/*' }), 406, undefined],
    [await ask(`${slug}/-/issues/1`, { token: 'nobody' }), 401, undefined],
    [await ask(`${slug}/-/pulls`, { token, body: {} }), 403, 10_023],
    [await ask('team/other/-/issues/1', { token }), 403, 10_024],
    [await ask(`${slug}/-/issues/9`), 404, 5],
    [await ask(`${slug}/-/issues/1/comments`, { body: 'no json' }), 400, undefined],
    [await ask('user', { token }), 403, 10_023],
  ] as const;
  for (const [answer, status, errcode] of refusals) {
    expect(answer.status).toBe(status);
    expect(answer.headers.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(answer.body).toMatchObject({ errcode: errcode ?? expect.any(Number), errmsg: expect.any(String) });
  }
});

test('R-PLATFORM-2: ids and numbers are strings beyond 2^53, pages have 10 comments by default and 100 at most', async () => {
  await start();
  server.createIssue({ slug, author: 'alice', title: 'One' });
  for (let index = 0; index < 110; index += 1) {
    const made = await ask(`${slug}/-/issues/1/comments`, { body: { body: `c${index}` } });
    if (index === 0)
      expect(made).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^\d{19}$/), body: 'c0' } });
  }
  expect((await ask(`${slug}/-/issues/1/comments`)).body).toHaveLength(10);
  expect((await ask(`${slug}/-/issues/1/comments?page_size=500`)).body).toHaveLength(100);
  expect((await ask(`${slug}/-/issues/1/comments?page_size=100&page=2`)).body).toHaveLength(10);
  const newest = await ask(`${slug}/-/issues/1/comments?sort=-created&page_size=1`);
  expect(newest.body).toMatchObject([{ body: 'c109' }]);
});

test('R-PLATFORM-3: a mention starts a build with the variables and a work tree of the default branch', async () => {
  await start({
    startRun: shell('env | grep ^CNB_ | sort; git log -1 --format=%H; cat a.txt; git remote get-url origin'),
  });
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: 'text' });
  const comment = server.comment({ slug, number: '1', author: 'alice', body: `${mention} fix it`, workMode: true });
  await server.settled();
  const [build] = server.builds;
  expect(build).toMatchObject({ status: 'success', exitCode: 0 });
  expect(build?.env).toMatchObject({
    CNB_EVENT: 'issue.comment@npc',
    CNB_ISSUE_IID: '1',
    CNB_COMMENT_ID: comment.id,
    CNB_COMMENT_BODY: `${mention} fix it`,
    CNB_NPC_NAME: 'Agent',
    CNB_NPC_PROMPT: 'Be short.',
    CNB_NPC_ENABLE_WORKMODE: 'true',
    CNB_PULL_REQUEST_IID: '',
    CNB_BUILD_USER: 'alice',
    CNB_BUILD_USER_NPC_NAME: '',
  });
  expect(build?.output).toContain('one\n');
  expect(build?.output).toContain(`${server.url}/${slug}`);
  expect(existsSync(build?.workspace ?? '')).toBe(false);
});

test('R-PLATFORM-3: an issue description, a pull request, a review and an inline comment start builds of their own', async () => {
  await start({ startRun: shell('git log -1 --format=%P') });
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
  await server.commit({ slug, branch: 'topic', files: { 'b.txt': 'b\n' } });
  const pull = await server.createPull({ slug, author: 'alice', title: 'PR', body: mention, head: 'topic' });
  const remark = { path: 'b.txt', body: `${mention} here`, start_line: 1, end_line: 1, end_side: 'right' };
  const review = server.review({ slug, number: '2', author: 'alice', body: `${mention} all`, comments: [remark] });
  await server.settled();
  const [issue, description, whole, inline] = server.builds.map(({ env }) => env);
  expect(issue).toMatchObject({ CNB_EVENT: 'issue.comment@npc', CNB_COMMENT_ID: '', CNB_ISSUE_DESCRIPTION: mention });
  expect(description).toMatchObject({
    CNB_EVENT: 'pull_request.comment@npc',
    CNB_PULL_REQUEST_BRANCH: 'topic',
    CNB_PULL_REQUEST_SLUG: slug,
    CNB_PULL_REQUEST_SHA: pull.headSha,
    CNB_ISSUE_IID: '',
  });
  expect(whole).toMatchObject({
    CNB_REVIEW_ID: review.id,
    CNB_COMMENT_ID: '',
    CNB_REVIEW_DESCRIPTION: `${mention} all`,
  });
  expect(inline).toMatchObject({
    CNB_COMMENT_FILE_PATH: 'b.txt',
    CNB_COMMENT_RANGE: 'L1',
    CNB_COMMENT_TYPE: 'diff_note',
  });
  // The work tree of a pull request is the commit merged in advance.
  expect(server.builds[1]?.output).toBe(`${pull.baseSha} ${pull.headSha}\n`);
});

test('R-PLATFORM-4: edits, quotes, unknown roles and busy issues start nothing; ten events are the most', async () => {
  await start();
  server.createIssue({ slug, author: 'alice', title: 'Bug' });
  const { id } = server.comment({ slug, number: '1', author: 'alice', body: 'plain' });
  await ask(`${slug}/-/issues/1/comments/${id}`, { method: 'PATCH', body: { body: `${mention} now` } });
  server.comment({ slug, number: '1', author: 'alice', body: `> ${mention}` });
  server.comment({ slug, number: '1', author: 'alice', body: '@team/agents(Nobody) hello' });
  expect(server.builds).toHaveLength(0);
  const many = Array.from({ length: 12 }, (_, index) => server.defineNpc({ slug: 'team/agents', name: `N${index}` }));
  server.comment({ slug, number: '1', author: 'alice', body: `${many.join(' ')}` });
  expect(server.builds).toHaveLength(10);
  for (let index = 0; index < 100; index += 1) server.comment({ slug, number: '1', author: 'alice', body: 'x' });
  server.comment({ slug, number: '1', author: 'alice', body: mention });
  expect(server.builds).toHaveLength(10);
});

test('R-PLATFORM-4: work mode needs a developer, and an NPC that mentions one is named', async () => {
  const post =
    'curl -sS -H "Authorization: Bearer $CNB_TOKEN" -H "Accept: application/vnd.cnb.api+json" -d "$BODY" $CNB_API_ENDPOINT/$CNB_REPO_SLUG/-/issues/1/comments';
  await start({
    startRun: (env, cwd) =>
      shell(post)({ ...env, BODY: JSON.stringify({ body: env.CNB_BUILD_USER_NPC_NAME ? 'thanks' : mention }) }, cwd),
  });
  server.createUser({ username: 'guest', access: 'Guest' });
  server.createIssue({ slug, author: 'alice', title: 'Bug' });
  server.comment({ slug, number: '1', author: 'guest', body: mention, workMode: true });
  await server.settled();
  expect(
    server.builds.map(({ env }) => [env.CNB_NPC_ENABLE_WORKMODE, env.CNB_BUILD_USER, env.CNB_BUILD_USER_NPC_NAME]),
  ).toEqual([
    ['false', 'guest', ''],
    ['false', 'Agent', 'Agent'],
  ]);
});

test('R-PLATFORM-5: git over HTTP asks for the token, and pushes need work mode', async () => {
  const push =
    'git -c "http.extraHeader=Authorization: Basic $(printf "cnb:$CNB_TOKEN" | base64 -w0)" push origin HEAD:refs/heads/made';
  await start({ startRun: shell(push), lock: false });
  await expect(
    execa('git', ['ls-remote', `${server.url}/${slug}`], { env: { GIT_TERMINAL_PROMPT: '0' } }),
  ).rejects.toThrow();
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
  await server.settled();
  expect(server.builds[0]?.output).toContain('403');
  expect(await server.pushes(slug)).toEqual([]);
  server.comment({ slug, number: '1', author: 'alice', body: mention, workMode: true });
  await server.settled();
  expect(await server.pushes(slug)).toMatchObject([{ user: 'Agent', ref: 'refs/heads/made', before: '0'.repeat(40) }]);
  // The token died with its build.
  const token = server.builds[1]?.env.CNB_TOKEN ?? '';
  expect((await ask(`${slug}/-/issues/1`, { token })).status).toBe(401);
});

test('R-PLATFORM-5: a protected branch declines a push', async () => {
  await start();
  const repository = await server.createRepository({ slug: 'team/safe', protectedBranches: ['main'] });
  const url = `${server.url.replace('http://', `http://alice:${alice}@`)}/team/safe`;
  await execa('git', ['clone', '-q', url, join(scratch, 'safe')]);
  const commit = ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x'];
  await execa('git', commit, { cwd: join(scratch, 'safe') });
  const push = (ref: string) => execa('git', ['push', 'origin', `HEAD:${ref}`], { cwd: join(scratch, 'safe') });
  await expect(push('main')).rejects.toMatchObject({ stderr: expect.stringContaining('hook declined') });
  await push('refs/heads/free');
  expect(existsSync(join(repository.folder, 'refs/heads/free'))).toBe(true);
});

test('R-PLATFORM-6: a folder with a git history keeps it, one without becomes a first commit', async () => {
  await start();
  await execa('git', ['init', '-q', '-b', 'trunk', scratch]);
  await execa('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'own'], {
    cwd: scratch,
  });
  const made = await server.createRepository({ slug: 'team/history', from: scratch });
  const { stdout } = await execa('git', ['log', '--format=%s', 'main'], { cwd: made.folder });
  expect(stdout).toBe('own');
});

test('R-PLATFORM-7: without the lock ten deliveries run together, with it one after the other', async () => {
  const stamp = 'date +%s%3N; sleep 0.05; date +%s%3N';
  await start({ startRun: shell('sleep 1'), lock: false });
  server.deliverTimes(10);
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
  await server.settled();
  expect(server.builds).toHaveLength(10);
  const lastStart = Math.max(...server.builds.map(({ startedAt = 0 }) => startedAt));
  expect(lastStart).toBeLessThan(Math.min(...server.builds.map(({ endedAt = 0 }) => endedAt)));
  expect(new Set(server.builds.map(({ env }) => env.CNB_ISSUE_IID))).toEqual(new Set(['1']));
  await server.close();

  await start({ startRun: shell(stamp) });
  server.deliverTimes(3);
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
  await server.settled();
  const spans = server.builds.map(({ output }) => output.trim().split('\n').map(Number));
  for (const [index, [begin = 0]] of spans.entries()) {
    if (index > 0) expect(begin).toBeGreaterThanOrEqual(spans[index - 1]?.[1] ?? Number.POSITIVE_INFINITY);
  }
});

test('R-PLATFORM-7: a lock expires, and a build that waits too long is cancelled', async () => {
  await start({ startRun: shell('sleep 0.4'), lock: { timeoutMs: 60, expiresMs: 10_000 } });
  server.deliverTimes(2);
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
  await server.settled();
  expect(server.builds.map(({ status }) => status)).toEqual(['success', 'cancel']);
  await server.close();

  await start({ startRun: shell('sleep 0.6'), lock: { timeoutMs: 10_000, expiresMs: 30 } });
  server.deliverTimes(2);
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
  await server.settled();
  const [first, second] = server.builds;
  expect(second?.startedAt).toBeLessThan(first?.endedAt ?? 0);
});

test('R-PLATFORM-8: fail and end stages follow with the status, also after a kill', async () => {
  const stages = {
    failStages: [shell('echo "failed: $CNB_BUILD_FAILED_MSG"')],
    endStages: [shell('echo "end: $CNB_PIPELINE_STATUS"')],
  };
  await start({ startRun: shell('exit 3'), ...stages });
  const again = async (): Promise<string> => {
    server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
    await server.settled();
    return server.builds.at(-1)?.output ?? '';
  };
  expect(await again()).toBe('failed: exit code 3\nend: error\n');
  server.configure({ startRun: shell('exit 0') });
  expect(await again()).toBe('end: success\n');
  server.configure({ startRun: shell('(setsid sleep 31 &) ; sleep 30'), silenceMs: 300 });
  expect(await again()).toContain('no output for too long\nend: error');
  server.configure({ startRun: shell('while true; do echo .; sleep 0.05; done'), silenceMs: 5000, maxRunTimeMs: 600 });
  expect(await again()).toContain('maximum run time\nend: error');
  expect(server.builds.at(-1)?.env.CNB_PIPELINE_MAX_RUN_TIME).toBe('600');
  expect((await execa('pgrep', ['-f', 'sleep 31'], { reject: false })).stdout).toBe('');
});

test('R-PLATFORM-8: a build is stopped through the API and its end stage says so', async () => {
  await start({ startRun: shell('echo started; sleep 30'), endStages: [shell('echo "end: $CNB_PIPELINE_STATUS"')] });
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
  await expect.poll(() => server.builds[0]?.output).toContain('started');
  const { sn } = server.builds[0] ?? { sn: '' };
  expect((await ask(`${slug}/-/build/status/${sn}`)).body).toMatchObject({ status: 'pending' });
  expect((await ask(`${slug}/-/build/stop/${sn}`, { method: 'POST' })).status).toBe(200);
  await server.settled();
  expect(server.builds[0]?.output).toContain('end: cancel');
  expect((await ask(`${slug}/-/build/logs`)).body).toMatchObject({ total: 1, data: [{ sn, status: 'cancel' }] });
});

test('R-PLATFORM-9: a build can be delivered again, as a rebuild too', async () => {
  await start({ startRun: shell('true') });
  server.createIssue({ slug, author: 'alice', title: 'Bug', body: mention });
  await server.settled();
  const [build] = server.builds;
  if (build) server.deliver(build, { isRetry: true });
  await server.settled();
  expect(server.builds.map(({ env }) => env.CNB_IS_RETRY)).toEqual(['false', 'true']);
});

test('R-PLATFORM-10: a pull request is made, read, conflicts, merges', async () => {
  await start({ checksFirst: 1 });
  await server.commit({ slug, branch: 'topic', files: { 'a.txt': 'two\n', 'ordner/neu ü.txt': 'x\n' } });
  const form = { title: 'PR', body: '', head: 'topic', base: 'main' };
  expect(await ask(`${slug}/-/pulls`, { body: form })).toMatchObject({
    status: 201,
    body: { number: '1', head: { ref: 'refs/heads/topic' } },
  });
  expect((await ask(`${slug}/-/pulls`, { body: form })).status).toBe(409);
  expect((await ask(`${slug}/-/pulls/1`)).body).toMatchObject({ mergeable_state: 'checking' });
  expect((await ask(`${slug}/-/pulls/1`)).body).toMatchObject({ mergeable_state: 'mergeable' });
  expect((await ask(`${slug}/-/pulls/1/files`)).body).toMatchObject([
    { filename: 'a.txt', status: 'modify', additions: 1, deletions: 1, patch: '@@ -1 +1 @@\n-one\n+two' },
    { filename: 'ordner/neu ü.txt', status: 'add' },
  ]);
  await server.commit({ slug, branch: 'main', files: { 'a.txt': 'three\n' } });
  expect((await ask(`${slug}/-/pulls/1`)).body).toMatchObject({ mergeable_state: 'conflict' });
  const merge = (body: unknown) => ask(`${slug}/-/pulls/1/merge`, { method: 'PUT', body });
  expect((await merge({})).status).toBe(400);
  expect((await merge({ merge_style: 'odd' })).body).toMatchObject({ errcode: 2_000_009 });
  expect((await merge({ merge_style: 'squash' })).status).toBe(409);
  await server.commit({ slug, branch: 'topic', files: { 'a.txt': 'three\n' } });
  expect(await merge({ merge_style: 'merge', commit_title: 'Merge it' })).toMatchObject({
    status: 200,
    body: { merged: true },
  });
  expect((await ask(`${slug}/-/git/branches/topic`)).status).toBe(404);
});

test('R-PLATFORM-10: a pull request from a fork names its source, and the build cannot reach the fork', async () => {
  await start({ startRun: shell('sleep 20') });
  await server.forkRepository({ slug: 'bob/fork/shop', of: slug });
  await server.commit({ slug: 'bob/fork/shop', branch: 'topic', files: { 'b.txt': 'b\n' } });
  await server.createPull({
    slug,
    author: 'alice',
    title: 'PR',
    body: mention,
    head: 'topic',
    headSlug: 'bob/fork/shop',
    workMode: true,
  });
  await expect.poll(() => server.builds[0]?.status).toBe('start');
  const { env = {}, workspace = '' } = server.builds[0] ?? {};
  expect(env).toMatchObject({ CNB_PULL_REQUEST_SLUG: 'bob/fork/shop', CNB_PULL_REQUEST_BRANCH: 'topic' });
  expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toBe('b\n');
  const refs = (url: string) =>
    execa('git', ['ls-remote', `http://cnb:${env.CNB_TOKEN}@${url.slice(7)}`], { env: { GIT_TERMINAL_PROMPT: '0' } });
  await expect(refs(`${server.url}/bob/fork/shop`)).rejects.toMatchObject({ stderr: expect.stringContaining('403') });
  expect((await refs(`${server.url}/${slug}`)).stdout).not.toContain('topic');
});

test('R-PLATFORM-11: the platform models stream with their oddities', async () => {
  await start({
    platformModel: () => ({
      calls: [
        { name: 'a', arguments: '{}' },
        { name: 'b', arguments: '{}' },
      ],
    }),
  });
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  expect((await ask(`${slug}/-/ai/chat/completions`, { body })).body).toMatchObject({
    choices: [{ finish_reason: 'stop' }],
  });
  expect((await ask(`${slug}/-/ai-ide/v2/chat/completions`, { body })).status).toBe(400);
  const response = await fetch(`${server.apiUrl}/${slug}/-/ai-ide/v2/chat/completions`, {
    method: 'POST',
    headers: { accept: 'application/json', authorization: `Bearer ${alice}` },
    body: JSON.stringify({ ...body, stream: true }),
  });
  const text = await response.text();
  expect(text.match(/"index":0,"id":"call-/g)).toHaveLength(2);
  expect(text).toContain('"finish_reason":""');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
});

test('R-PLATFORM-12: the command serves a folder and prints a mention that works', async () => {
  await start();
  await execa('sh', ['-c', 'echo hello > file.txt'], { cwd: scratch });
  const args = [
    'testing/cnb-server-command.ts',
    '--repo',
    scratch,
    '--slug',
    'team/demo/x',
    '--run',
    'echo ran; cat file.txt',
  ];
  const command = execa('node', ['--import', 'tsx', ...args], { reject: false });
  let printed = '';
  command.stdout.on('data', (chunk) => {
    printed += String(chunk);
  });
  await expect.poll(() => printed, { timeout: 20_000 }).toContain('Read the thread');
  const [curl = ''] = /curl -sS[\s\S]*?work_mode":true}'/.exec(printed) ?? [];
  const { stdout } = await execa('sh', ['-c', curl]);
  expect(JSON.parse(stdout)).toMatchObject({ author: { username: 'alice' } });
  await expect.poll(() => printed, { timeout: 10_000 }).toContain('ran\nhello');
  command.kill('SIGTERM');
  await command;
});
