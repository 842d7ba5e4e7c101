import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository } from '../test/helpers/temp-repository.ts';
import { buildCandidate } from './candidate.ts';
import { openRepository } from './repository.ts';

async function setUp() {
  const user = await tempRepository({ 'a.txt': '0\n' });
  const base = await user.git('rev-parse', 'HEAD');
  const shas: string[] = [];
  for (const step of ['1', '2', '3', '4']) shas.push(await user.commit({ 'a.txt': `${step}\n` }, `attempt ${step}`));
  const repository = await openRepository({
    stateDir: join(await tempFolder(), 'state'),
    checkout: user.path,
    env: plainEnv,
  });
  const subjects = async (head: string) =>
    (await repository.git(['log', '--reverse', '--format=%s', `${base}..${head}`])).stdout.trim().split('\n');
  return { user, repository, base, shas: shas as [string, string, string, string], subjects };
}

test('R-TREE-9: commits of a node that follow each other become one, with the last one’s tree and message', async () => {
  const { repository, base, shas, subjects } = await setUp();
  const commits = [
    { node: 'coder', sha: shas[0], message: 'code, first go' },
    { node: 'coder', sha: shas[1], message: 'code\n\nbody' },
    { node: 'writer', sha: shas[2], message: 'docs' },
    { node: 'coder', sha: shas[3], message: 'code again' },
  ];
  const head = await buildCandidate(repository, { base, commits });
  expect(await subjects(head)).toEqual(['code', 'docs', 'code again']);
  expect(await repository.show(head, 'a.txt')).toBe('4\n');
  expect(await repository.show(`${head}~2`, 'a.txt')).toBe('2\n');
  expect((await repository.git(['log', '--merges', head])).stdout).toBe('');
});

test('R-TREE-9: the same input gives the same commit, now and later', async () => {
  const { repository, base, shas } = await setUp();
  const work = { base, commits: [{ node: 'coder', sha: shas[0], message: 'code' }] };
  const first = await buildCandidate(repository, work);
  await new Promise((done) => setTimeout(done, 1_100));
  expect(await buildCandidate(repository, work)).toBe(first);
  const dates = async (sha: string) => (await repository.git(['show', '-s', '--format=%at %ct %an', sha])).stdout;
  expect(await dates(first)).toBe(await dates(shas[0]));
});

test('R-TREE-9: work that undoes itself delivers nothing', async () => {
  const { user, repository, base, shas } = await setUp();
  const undone = await user.commit({ 'a.txt': '0\n' });
  const second = await openRepository({
    stateDir: join(await tempFolder(), 'state'),
    checkout: user.path,
    env: plainEnv,
  });
  const commits = [
    { node: 'coder', sha: shas[0], message: 'x' },
    { node: 'coder', sha: undone, message: 'x' },
  ];
  expect(await buildCandidate(second, { base, commits })).toBe(base);
  expect(await buildCandidate(repository, { base, commits: [] })).toBe(base);
});

test('R-TREE-9: a commit that does not come from the base is refused', async () => {
  const { user, base, shas } = await setUp();
  await user.git('checkout', '--quiet', '--orphan', 'other');
  const stranger = await user.commit({ 'b.txt': 'b' });
  const repository = await openRepository({
    stateDir: join(await tempFolder(), 'state'),
    checkout: user.path,
    env: plainEnv,
  });
  const commits = [
    { node: 'coder', sha: shas[0], message: 'x' },
    { node: 'writer', sha: stranger, message: 'x' },
  ];
  await expect(buildCandidate(repository, { base, commits })).rejects.toThrow(/does not come from the base/);
});
