import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../base/log.ts';
import type { Forge } from '../coordinator/forge.ts';
import { type Build, type CnbServer, startCnbServer } from '../testing/cnb-server.ts';
import { createCnbForge, readConnection, readTrigger } from './index.ts';

const slug = 'team/web/shop';
const timing = { backoffBase: 1, backoffCap: 5, timeout: 5000 };

let server: CnbServer;
let mention: string;
let scratch: string;

/** A build that waits until the test ends it, as its token lives no longer than it does. */
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'npc-cnb-'));
  server = await startCnbServer({
    lock: false,
    startRun: () => execa('cat', { reject: false }),
  });
  mention = server.defineNpc({ slug: 'team/agents', name: 'Agent' });
  server.createUser({ username: 'alice' });
  await server.createRepository({ slug, from: { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' } });
});

afterEach(async () => {
  await server.close();
  await rm(scratch, { recursive: true, force: true });
});

/** Waits until the newest build runs, and opens the forge it would open. */
async function forgeOf(
  build: Build | undefined = server.builds.at(-1),
): Promise<{ forge: Forge; env: Record<string, string>; cwd: string }> {
  await expect.poll(() => build?.status, { interval: 5 }).toBe('start');
  const { env = {}, workspace = '' } = build ?? {};
  const reading = readTrigger(env);
  if (reading.kind !== 'run' || !reading.trigger.thread) throw new Error(JSON.stringify(reading));
  const forge = createCnbForge({
    connection: readConnection(env),
    thread: reading.trigger.thread,
    log: silentLog(),
    timing,
  });
  return { forge, env: { ...env }, cwd: workspace };
}

async function onIssue(workMode = true): Promise<{ forge: Forge; env: Record<string, string>; cwd: string }> {
  server.createIssue({ slug, author: 'alice', title: 'Broken', body: 'It is broken.' });
  server.comment({ slug, number: '1', author: 'alice', body: `${mention} fix it`, workMode });
  return forgeOf();
}

async function onPull(workMode = true): Promise<{ forge: Forge; env: Record<string, string>; cwd: string }> {
  await server.commit({ slug, branch: 'topic', files: { 'a.txt': 'one\n2\nthree\n' } });
  await server.createPull({ slug, author: 'alice', title: 'Topic', body: 'Look.', head: 'topic' });
  server.comment({ slug, number: '1', author: 'alice', body: `${mention} review it`, workMode });
  return forgeOf();
}

test('R-CNB-10: a comment is posted once, edited in place and read back', async () => {
  const { forge } = await onIssue();
  const posted = await forge.postComment('Working.');
  expect(posted).toMatchObject({ author: { username: 'Agent', isNpc: true }, body: 'Working.' });
  await forge.updateComment(posted.id, 'Done.');
  expect(await forge.readComment(posted.id)).toMatchObject({ id: posted.id, body: 'Done.' });
  expect(await forge.readComment('2086360222186463200')).toBeUndefined();
  expect(server.issue(slug, '1').comments).toHaveLength(2);
});

test('R-CNB-11: a thread with more comments than a page is read whole, oldest first (A15)', async () => {
  server.createIssue({ slug, author: 'alice', title: 'Busy' });
  for (let index = 0; index < 135; index += 1)
    server.comment({ slug, number: '1', author: 'alice', body: `comment ${index}` });
  await server.commit({ slug, branch: 'topic', files: { x: 'x' } });
  await server.createPull({ slug, author: 'alice', title: 'PR', body: mention, head: 'topic' });
  const { env } = await forgeOf();
  const thread = { slug, kind: 'issue', number: '1', occasion: 'description' } as const;
  const forge = createCnbForge({ connection: readConnection(env), thread, log: silentLog(), timing });
  const { comments, title } = await forge.readThread();
  expect(title).toBe('Busy');
  expect(comments.map(({ body }) => body)).toEqual(Array.from({ length: 135 }, (_, index) => `comment ${index}`));
  expect(await forge.readCommentsAfter(comments[132]?.id ?? '')).toHaveLength(2);
});

test('R-CNB-11: a server that repeats its first page does not hold the reader for ever', async () => {
  const { forge } = await onIssue();
  for (let index = 0; index < 120; index += 1)
    server.comment({ slug, number: '1', author: 'alice', body: `comment ${index}` });
  server.fault({ path: /comments$/, kind: 'same_page', times: 10 });
  expect((await forge.readThread()).comments).toHaveLength(100);
});

test('R-CNB-12: comments that mention us carry the request, others and quotes do not', async () => {
  const { forge } = await onIssue();
  server.comment({ slug, number: '1', author: 'alice', body: '> @Agent stop\n\nno' });
  server.comment({ slug, number: '1', author: 'alice', body: '@Agent stop' });
  const { comments } = await forge.readThread();
  expect(comments.map(({ request }) => request)).toEqual(['fix it', undefined, 'stop']);
});

test('R-CNB-13: reads are repeated after 429, 500, HTML and a lost connection', async () => {
  const { forge } = await onIssue();
  for (const kind of ['error', 'html', 'drop'] as const) server.fault({ method: 'GET', path: /issues\/1$/, kind });
  expect((await forge.readThread()).title).toBe('Broken');
  server.fault({ method: 'GET', path: /issues\/1$/, kind: 'rate_limit', retryAfter: 0 });
  expect((await forge.readThread()).title).toBe('Broken');
});

test('R-CNB-13: Retry-After is honoured', async () => {
  const { forge } = await onIssue();
  server.fault({ method: 'GET', path: /issues\/1$/, kind: 'rate_limit', retryAfter: 1 });
  const start = Date.now();
  await forge.readThread();
  expect(Date.now() - start).toBeGreaterThan(950);
});

test.each(['drop_after', 'error_after'] as const)(
  'R-CNB-14: a comment whose answer is lost (%s) is found, not posted twice',
  async (kind) => {
    const { forge } = await onIssue();
    server.fault({ method: 'POST', path: /comments$/, kind });
    const posted = await forge.postComment('Working. <!-- run -->');
    expect(server.issue(slug, '1').comments.map(({ id }) => id)).toContain(posted.id);
    expect(server.issue(slug, '1').comments).toHaveLength(2);
  },
);

test('R-CNB-14: a comment that was not applied is an error, and is not sent again', async () => {
  const { forge } = await onIssue();
  server.fault({ method: 'POST', path: /comments$/, kind: 'error' });
  await expect(forge.postComment('Working.')).rejects.toMatchObject({ code: 'forge', details: { status: 500 } });
  expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('R-CNB-15: an error names the request, the status, the code and the trace, and never the token', async () => {
  const { forge, env } = await onIssue(false);
  const error = await forge
    .openPull({ title: 'x', body: 'y', head: 'main', base: 'main' })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'forge',
    details: { status: 403, errcode: '10023', method: 'POST', traceparent: expect.stringMatching(/^00-/) },
  });
  expect(String(error)).toContain('work mode');
  expect(JSON.stringify(error) + String(error)).not.toContain(env.CNB_TOKEN);
});

test('R-CNB-16: git clones and pushes with a header from the environment, and the token is nowhere else', async () => {
  const { forge, env } = await onIssue();
  const { remote } = forge;
  const folder = join(scratch, 'clone');
  await execa('git', ['clone', '-q', remote.url, folder], { env: remote.env });
  await execa('git', ['checkout', '-q', '-b', 'npc/wip'], { cwd: folder });
  await execa('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'work'], {
    cwd: folder,
  });
  await execa('git', ['push', '-q', '-o', 'ci.skip', 'origin', 'npc/wip'], { cwd: folder, env: remote.env });
  expect(await server.pushes(slug)).toMatchObject([{ user: 'Agent', ref: 'refs/heads/npc/wip', options: ['ci.skip'] }]);
  const { stdout } = await execa('grep', ['-rc', env.CNB_TOKEN ?? '', folder], { reject: false });
  expect(stdout.split('\n').every((line) => line.endsWith(':0'))).toBe(true);
  expect(remote.url).not.toContain(env.CNB_TOKEN);
  expect(remote.secrets).toContain(env.CNB_TOKEN);
});

test('R-CNB-16: without work mode git reads, and a push is refused at once', async () => {
  const { forge, cwd } = await onIssue(false);
  await execa('git', ['fetch', '-q', 'origin'], { cwd, env: forge.remote.env });
  const push = execa('git', ['push', 'origin', 'HEAD:refs/heads/x'], { cwd, env: forge.remote.env });
  await expect(push).rejects.toMatchObject({ stderr: expect.stringContaining('403') });
});

test('R-CNB-16: a header that the checkout left behind does not join ours', async () => {
  const { forge, cwd, env } = await onIssue();
  await execa('git', ['config', `http.${env.CNB_WEB_ENDPOINT}/.extraHeader`, 'Authorization: Basic b2xkOm9sZA=='], {
    cwd,
  });
  await execa('git', ['fetch', '-q', 'origin'], { cwd, env: forge.remote.env });
});

test.each(['pull', 'empty'] as const)(
  'R-CNB-17: a pull request is opened and found again by its branch (answer: %s)',
  async (pullAnswer) => {
    server.configure({ pullAnswer });
    const { forge } = await onIssue();
    expect(await forge.findPull('feature/x')).toBeUndefined();
    const sha = await server.commit({ slug, branch: 'feature/x', files: { 'c.txt': 'c' } });
    const pull = await forge.openPull({ title: 'Fix', body: `for ${mention}`, head: 'feature/x', base: 'main' });
    expect(pull).toEqual({ number: '2', url: `${server.url}/${slug}/-/pulls/2`, headSha: sha, state: 'open' });
    expect(await forge.findPull('feature/x')).toEqual(pull);
    expect((await server.pull(slug, '2')).body).toBe(`for \`${mention}\``);
    expect(server.builds).toHaveLength(1);
  },
);

test('R-CNB-17: a pull request whose answer is lost is found by its branch, not opened twice', async () => {
  const { forge } = await onIssue();
  await server.commit({ slug, branch: 'fix', files: { 'c.txt': 'c' } });
  server.fault({ method: 'POST', path: /pulls$/, kind: 'drop_after' });
  expect(await forge.openPull({ title: 'Fix', body: '', head: 'fix', base: 'main' })).toMatchObject({ number: '2' });
  expect(server.pulls(slug)).toHaveLength(1);
});

test('R-CNB-18: a pull request gives its files, takes a review, and its thread holds reviews and inline remarks', async () => {
  const { forge } = await onPull();
  expect(await forge.readPullFiles()).toEqual([
    { path: 'a.txt', status: 'modify', patch: expect.stringContaining('+2') },
  ]);
  const remark = { path: 'a.txt', line: 2, body: `why not ${mention}?` };
  await forge.postReview({
    body: 'See below.',
    event: 'request_changes',
    comments: Array.from({ length: 12 }, () => remark),
  });
  const [review] = (await server.pull(slug, '1')).reviews;
  expect(review).toMatchObject({ state: 'changes_requested', body: 'See below.' });
  expect(review?.comments).toHaveLength(10);
  expect(review?.comments[0]).toMatchObject({ path: 'a.txt', startLine: 2, endLine: 2, side: 'right' });
  const { comments } = await forge.readThread();
  expect(comments.filter(({ inline }) => inline?.path === 'a.txt' && inline.range === 'L2')).toHaveLength(10);
  expect(comments.find(({ id }) => id === `review-${review?.id}`)?.body).toBe('See below.');
  expect(server.builds).toHaveLength(1);
});

test('R-CNB-19: a file is attached to an issue, readable under its link, and our token never goes to the upload host', async () => {
  const { forge } = await onIssue(false);
  const link = await forge.attachFile({ name: 'run 1.jsonl.gz', bytes: Buffer.from('log'), type: 'application/gzip' });
  expect(await (await fetch(link ?? '')).text()).toBe('log');
});

test('R-CNB-19: on a pull request a file is attached only when the token allows it', async () => {
  const { forge } = await onPull();
  const file = { name: 'run.jsonl.gz', bytes: Buffer.from('log'), type: 'application/gzip' };
  expect(await forge.attachFile(file)).toBeUndefined();
});

test('R-CNB-3: neither comments nor edits of ours start a run (A16)', async () => {
  const { forge } = await onIssue();
  const { id } = await forge.postComment(`${mention} go on`);
  await forge.updateComment(id, `Say ${mention} continue`);
  expect(server.builds).toHaveLength(1);
  expect(server.issue(slug, '1').comments.at(-1)?.body).toBe(`Say \`${mention}\` continue`);
});

test('R-CNB-20: branches keep their slashes in web addresses and odd characters are encoded', async () => {
  const { forge } = await onIssue();
  expect(forge.branchUrl('npc/wip/issue-1 #')).toBe(`${server.url}/${slug}/-/tree/npc/wip/issue-1%20%23`);
});

test('R-CNB-4: a request too long for a variable is read again by its id', async () => {
  server.createIssue({ slug, author: 'alice', title: 'Long' });
  server.comment({ slug, number: '1', author: 'alice', body: `${mention} ${'修'.repeat(40_000)}` });
  const build = server.builds.at(-1);
  await expect.poll(() => build?.status).toBe('start');
  const reading = readTrigger(build?.env ?? {});
  expect(reading).toMatchObject({ kind: 'run', trigger: { request: '', requestDropped: true } });
  const { forge } = await forgeOf(build);
  expect(await forge.readRequestText()).toHaveLength(mention.length + 1 + 40_000);
});
