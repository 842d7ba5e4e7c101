import { chmod, chown, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository, writeFiles } from '../test/helpers/temp-repository.ts';
import { git } from './git.ts';
import { openRepository, type RepositoryOptions } from './repository.ts';

async function open(checkout: string, more: Partial<RepositoryOptions> = {}) {
  return openRepository({
    stateDir: join(await tempFolder(), 'state'),
    checkout,
    env: plainEnv,
    retryDelaysMs: [],
    ...more,
  });
}

/** A bare repository that stands for the platform, filled from the checkout. */
async function bareRemote(checkout: string) {
  const path = join(await tempFolder(), 'remote.git');
  await git(['clone', '--bare', '--quiet', checkout, path], { cwd: checkout, env: plainEnv });
  const run = async (...args: string[]) => (await git(args, { cwd: path, env: plainEnv })).stdout.trim();
  return { path, run, remote: { url: path, env: {}, secrets: [] } };
}

/** Everything in a folder tree that a write would change. */
async function fingerprint(folder: string): Promise<string> {
  const { stdout } = await git(['-c', 'alias.look=!find . -type f -printf "%p %T@ %s\\n" | sort', 'look'], {
    cwd: folder,
    env: plainEnv,
  });
  return stdout;
}

test('R-TREE-2: a run gets a bare clone at the checkout’s HEAD, and the checkout is not written to', async () => {
  const user = await tempRepository({ 'a.txt': 'a\n', 'src/b.txt': 'b\n', 'src/deep/c.txt': 'c\n' });
  const before = await fingerprint(user.path);
  const repository = await open(user.path);
  expect(repository.baseSha).toBe(await user.git('rev-parse', 'HEAD'));
  expect(await repository.show(repository.baseSha, 'src/b.txt')).toBe('b\n');
  expect(await repository.show(repository.baseSha, 'src/none.txt')).toBeUndefined();
  expect(await repository.show(repository.baseSha, 'src')).toBeUndefined();
  expect(await repository.list(repository.baseSha)).toEqual(['a.txt', 'src/']);
  expect(await repository.list(repository.baseSha, 'src')).toEqual(['b.txt', 'deep/']);
  expect(await repository.list(repository.baseSha, 'none')).toEqual([]);
  expect(await repository.has(repository.baseSha)).toBe(true);
  expect(await repository.has('0123456789012345678901234567890123456789')).toBe(false);
  expect(await fingerprint(user.path)).toBe(before);
  expect((await repository.git(['remote'])).stdout).toBe('');
});

test('R-TREE-2: uncommitted changes are named and stay where they are', async () => {
  const user = await tempRepository({ 'a.txt': 'a\n' });
  await writeFiles(user.path, { 'a.txt': 'changed\n', '新 文件.txt': 'new\n' });
  const repository = await open(user.path);
  expect((await repository.uncommitted()).sort()).toEqual(['a.txt', '新 文件.txt']);
  expect(await repository.show(repository.baseSha, 'a.txt')).toBe('a\n');
});

test('R-TREE-2: a second opening finds the same base although the checkout went on', async () => {
  const user = await tempRepository();
  const stateDir = join(await tempFolder(), 'state');
  const first = await open(user.path, { stateDir });
  await user.commit({ 'later.txt': 'x' });
  expect((await open(user.path, { stateDir })).baseSha).toBe(first.baseSha);
});

test('R-TREE-2: a damaged clone is set aside and made again', async () => {
  const user = await tempRepository();
  const stateDir = join(await tempFolder(), 'state');
  const first = await open(user.path, { stateDir });
  await rm(join(first.gitDir, 'HEAD'));
  const second = await open(user.path, { stateDir });
  expect(second.setAside).toMatch(/repo\.git\.corrupt-/);
  expect((await stat(second.setAside ?? '')).isDirectory()).toBe(true);
  expect(second.baseSha).toBe(first.baseSha);
});

test('R-TREE-2: a clone that was interrupted is made anew', async () => {
  const user = await tempRepository();
  const stateDir = join(await tempFolder(), 'state');
  await writeFiles(stateDir, { 'repo.git.making/HEAD': 'half' });
  expect((await open(user.path, { stateDir })).baseSha).toBe(await user.git('rev-parse', 'HEAD'));
});

test('R-TREE-2: detached, worktree, subfolder and bare checkouts are taken', async () => {
  const user = await tempRepository({ 'a.txt': '1\n', 'sub/x.txt': 'x' });
  const first = await user.git('rev-parse', 'HEAD');
  const second = await user.commit({ 'a.txt': '2\n' });
  const linked = join(await tempFolder(), 'linked');
  await user.git('worktree', 'add', '--quiet', '--detach', linked, first);
  expect((await open(linked)).baseSha).toBe(first);
  expect((await open(join(user.path, 'sub'))).baseSha).toBe(second);
  expect((await open(join(user.path, '.git'))).baseSha).toBe(second);
  await user.git('checkout', '--quiet', '--detach', first);
  await user.git('commit', '--quiet', '--allow-empty', '-m', 'on no branch');
  const repository = await open(user.path);
  expect(repository.baseSha).toBe(await user.git('rev-parse', 'HEAD'));
  expect(await repository.has(repository.baseSha)).toBe(true);
});

test('R-TREE-2: the history of a shallow checkout is completed with the first fetch, so that a merge base is found', async () => {
  const origin = await tempRepository({ 'a.txt': '1\n' });
  const first = await origin.git('rev-parse', 'HEAD');
  await origin.git('checkout', '--quiet', '-b', 'topic');
  const topic = await origin.commit({ 'topic.txt': 't\n' });
  await origin.git('checkout', '--quiet', 'main');
  for (const step of ['2', '3', '4']) await origin.commit({ 'a.txt': step });
  const { remote, path } = await bareRemote(origin.path);
  const shallow = join(await tempFolder(), 'shallow');
  await git(['clone', '--quiet', '--depth=1', `file://${path}`, shallow], { cwd: path, env: plainEnv });
  const repository = await open(shallow, { remote: { ...remote, url: `file://${path}` } });
  expect(await repository.has(first)).toBe(false);
  expect(await repository.fetch('topic')).toBe(topic);
  expect((await repository.git(['merge-base', repository.baseSha, topic])).stdout.trim()).toBe(first);
});

test('R-TREE-2: the missing objects of a partial clone are fetched at once', async () => {
  const origin = await tempRepository({ 'a.txt': 'first content\n' });
  await origin.commit({ 'a.txt': 'second content\n' });
  const { path, run, remote } = await bareRemote(origin.path);
  await run('config', 'uploadpack.allowFilter', 'true');
  const partial = join(await tempFolder(), 'partial');
  await git(['clone', '--quiet', '--filter=blob:none', '--no-checkout', `file://${path}`, partial], {
    cwd: path,
    env: plainEnv,
  });
  await expect(open(partial)).rejects.toThrow(/partial clone/);
  const repository = await open(partial, { remote: { ...remote, url: `file://${path}` } });
  expect(await repository.show(repository.baseSha, 'a.txt')).toBe('second content\n');
});

test.runIf(process.getuid?.() === 0)('R-TREE-2: a checkout that belongs to somebody else is read', async () => {
  const user = await tempRepository();
  await git(['-c', 'alias.own=!chown -R 12345:12345 .', 'own'], { cwd: user.path, env: plainEnv });
  await chown(user.path, 12345, 12345);
  const repository = await open(user.path);
  expect(await repository.show(repository.baseSha, 'README.md')).toBe('# demo\n');
  expect(await repository.uncommitted()).toEqual([]);
  expect(await repository.writeLocalBranch('npc/goal-1', repository.baseSha)).toEqual({ kind: 'ok' });
});

test('R-TREE-2: what is no work tree, or has no commit yet, is told in one line', async () => {
  const folder = await tempFolder();
  await expect(open(folder)).rejects.toMatchObject({
    code: 'git',
    message: expect.stringContaining('is not a git work tree'),
  });
  await expect(open(join(folder, 'none'))).rejects.toMatchObject({ code: 'git' });
  await git(['init', '--quiet'], { cwd: folder, env: plainEnv });
  await expect(open(folder)).rejects.toThrow(/has no commit yet/);
});

test('R-TREE-2: a local branch is written into the user’s repository, fast-forward only, without its hooks', async () => {
  const user = await tempRepository();
  await writeFiles(user.path, { '.git/hooks/pre-receive': '#!/bin/sh\ntouch "$PWD/hook-ran"\nexit 1\n' });
  await chmod(join(user.path, '.git/hooks/pre-receive'), 0o755);
  const base = await user.git('rev-parse', 'HEAD');
  const ahead = await user.commit({ 'b.txt': 'b' });
  await user.git('branch', 'npc/goal-1', base);
  const repository = await open(user.path);
  expect(await repository.writeLocalBranch('npc/goal-1', ahead)).toEqual({ kind: 'ok' });
  expect(await repository.readLocalBranch('npc/goal-1')).toBe(ahead);
  expect(await repository.writeLocalBranch('npc/goal-1', base)).toMatchObject({ kind: 'rejected', reason: 'moved' });
  expect(await repository.readLocalBranch('npc/none')).toBeUndefined();
  await expect(stat(join(user.path, '.git/hook-ran'))).rejects.toThrow();
});

test('R-TREE-3: a push arrives, with options only where the remote takes them', async () => {
  const user = await tempRepository();
  const plain = await bareRemote(user.path);
  const repository = await open(user.path, { remote: plain.remote });
  const refspec = `${repository.baseSha}:refs/heads/npc/wip/issue-1-12345678`;
  expect(await repository.push([refspec], { options: ['ci.skip'] })).toEqual({ kind: 'ok' });
  expect(await repository.lsRemote('npc/wip/issue-1-12345678')).toBe(repository.baseSha);

  const taking = await bareRemote(user.path);
  await taking.run('config', 'receive.advertisePushOptions', 'true');
  const other = await open(user.path, { remote: taking.remote });
  expect(await other.push([refspec], { options: ['ci.skip'] })).toEqual({ kind: 'ok' });
});

test('R-TREE-3: a branch that moved refuses the push, and keeps what it holds (A18)', async () => {
  const user = await tempRepository();
  const { remote, run, path } = await bareRemote(user.path);
  const repository = await open(user.path, { remote });
  const other = join(await tempFolder(), 'other');
  await git(['clone', '--quiet', path, other], { cwd: path, env: plainEnv });
  await git(['commit', '--quiet', '--allow-empty', '-m', 'meanwhile'], { cwd: other, env: plainEnv });
  await git(['push', '--quiet', 'origin', 'HEAD:main'], { cwd: other, env: plainEnv });
  const moved = await run('rev-parse', 'main');
  const ours = await user.commit({ 'ours.txt': 'x' });
  const fresh = await open(user.path, { remote });
  expect(await fresh.push([`${ours}:refs/heads/main`])).toMatchObject({ kind: 'rejected', reason: 'moved' });
  expect(await run('rev-parse', 'main')).toBe(moved);
  expect(await repository.fetch('main')).toBe(moved);
  await expect(repository.push([`+${repository.baseSha}:refs/heads/main`])).rejects.toThrow(/never forced/);
});

test('R-TREE-3: a push that a rule of the remote declines says what the remote said', async () => {
  const user = await tempRepository();
  const { remote, run } = await bareRemote(user.path);
  await run('config', 'receive.denyDeletes', 'true');
  const repository = await open(user.path, { remote });
  await repository.push([`${repository.baseSha}:refs/heads/x`]);
  expect(await repository.deleteRemote('x')).toMatchObject({
    kind: 'rejected',
    reason: 'declined',
    message: expect.stringContaining('deletion prohibited'),
  });
});

test('R-TREE-3: a remote branch is deleted, also when it is gone already', async () => {
  const user = await tempRepository();
  const { remote } = await bareRemote(user.path);
  const repository = await open(user.path, { remote });
  await repository.push([`${repository.baseSha}:refs/heads/x`]);
  expect(await repository.deleteRemote('x')).toEqual({ kind: 'ok' });
  expect(await repository.lsRemote('x')).toBeUndefined();
  expect(await repository.deleteRemote('x')).toEqual({ kind: 'ok' });
});

test('R-TREE-3: branches whose names nest are fetched one after the other', async () => {
  const user = await tempRepository();
  const { remote, run } = await bareRemote(user.path);
  const repository = await open(user.path, { remote });
  await run('branch', 'a', 'main');
  expect(await repository.fetch('a')).toBe(repository.baseSha);
  await run('branch', '-D', 'a');
  await run('branch', 'a/b', 'main');
  expect(await repository.fetch('a/b')).toBe(repository.baseSha);
  await run('update-ref', 'refs/pull/7/head', repository.baseSha);
  expect(await repository.fetch('refs/pull/7/head')).toBe(repository.baseSha);
  await expect(repository.fetch('a')).rejects.toMatchObject({
    code: 'git',
    message: expect.stringContaining('could not fetch a'),
  });
});

test('R-TREE-3: a refusal by HTTP is told from a remote out of reach, and the token is in no message', async () => {
  const token = ['t0k', 'en', 'value1'].join('');
  let status = 403;
  const server = createServer((_request, response) => {
    response.writeHead(status, status === 401 ? { 'WWW-Authenticate': 'Basic realm="x"' } : {}).end(`denied ${token}`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const user = await tempRepository();
  const remote = { url: `http://cnb:${token}@127.0.0.1:${port}/a/b`, env: {}, secrets: [token] };
  const repository = await open(user.path, { remote });
  const refspec = `${repository.baseSha}:refs/heads/x`;
  for (const code of [403, 401]) {
    status = code;
    const outcome = await repository.push([refspec]);
    expect(outcome.kind, String(code)).toBe('forbidden');
    expect(JSON.stringify(outcome)).not.toContain(token);
  }
  status = 502;
  expect(await repository.push([refspec])).toMatchObject({ kind: 'unreachable' });
  const failure = await repository.lsRemote('x').catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'git' });
  expect(JSON.stringify(failure) + String(failure)).not.toContain(token);
  server.close();
  server.closeAllConnections();
  expect(await repository.push([refspec])).toMatchObject({ kind: 'unreachable' });
});

test('R-TREE-3: a remote that is out of reach for a moment is tried again', async () => {
  const user = await tempRepository();
  const path = join(await tempFolder(), 'late.git');
  const repository = await open(user.path, {
    remote: { url: `file://${path}`, env: {}, secrets: [] },
    retryDelaysMs: [1],
  });
  expect(await repository.push([`${repository.baseSha}:refs/heads/x`])).toMatchObject({ kind: 'forbidden' });
  let answers = 0;
  const server = createServer((_request, response) => {
    answers += 1;
    response.writeHead(503).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a`;
  const other = await open(user.path, { remote: { url, env: {}, secrets: [] }, retryDelaysMs: [1, 1] });
  await expect(other.lsRemote('x')).rejects.toThrow();
  expect(answers).toBe(3);
});

test('R-TREE-3: a run without a remote says so instead of pushing somewhere', async () => {
  const repository = await open((await tempRepository()).path);
  await expect(repository.push([`${repository.baseSha}:refs/heads/x`])).rejects.toThrow(/no remote repository/);
});

test('R-TREE-4: what a command wrote into the configuration is put back before our git runs', async () => {
  const user = await tempRepository({ 'a.txt': 'a\n' });
  const repository = await open(user.path);
  const config = join(repository.gitDir, 'config');
  const sealed = await readFile(config, 'utf8');
  const evil = join(await tempFolder(), 'evil-ran');
  await writeFile(
    config,
    `${sealed}[alias]\n\tlook = "!touch ${evil}"\n[remote "origin"]\n\turl = ${user.path}\n[core]\n\tfsmonitor = "touch ${evil}"\n`,
  );
  await expect(repository.git(['look'])).rejects.toMatchObject({ code: 'git' });
  expect((await repository.git(['remote'])).stdout).toBe('');
  expect(await readFile(config, 'utf8')).toBe(sealed);
  await expect(stat(evil)).rejects.toThrow();
});

test('R-TREE-4: git without a login fails at once instead of asking', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a`;
  await expect(git(['ls-remote', url], { cwd: await tempFolder(), env: plainEnv })).rejects.toThrow(
    /could not read Username/,
  );
});

test('R-TREE-4: git says what failed, ends with its signal, and gives up after its time', async () => {
  const cwd = await tempFolder();
  await expect(git(['frobnicate'], { cwd, env: plainEnv, doing: 'do the thing' })).rejects.toThrow(
    /could not do the thing: git: 'frobnicate'/,
  );
  await expect(git(['-c', 'alias.w=!sleep 20', 'w'], { cwd, env: plainEnv, timeoutMs: 100 })).rejects.toMatchObject({
    code: 'timeout',
  });
  const stop = new AbortController();
  const waiting = git(['-c', 'alias.w=!sleep 20', 'w'], { cwd, env: plainEnv, signal: stop.signal });
  stop.abort(new Error('stopped by the test'));
  await expect(waiting).rejects.toThrow('stopped by the test');
  await expect(git(['version'], { cwd, env: { PATH: cwd } })).rejects.toThrow(/is it installed/);
});
