import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository } from '../test/helpers/temp-repository.ts';
import { changedFiles, diffText, docsOnly } from './diff.ts';
import { openRepository } from './repository.ts';

async function changed(files: Record<string, string>, change: Record<string, string | null>) {
  const user = await tempRepository(files);
  const base = await user.git('rev-parse', 'HEAD');
  const sha = await user.commit(change);
  const repository = await openRepository({
    stateDir: join(await tempFolder(), 'state'),
    checkout: user.path,
    env: plainEnv,
  });
  return { repository, base, sha };
}

test('R-TREE-10: the changed files are told with their kind, whatever their names', async () => {
  const { repository, base, sha } = await changed(
    { 'a.txt': 'a\n', 'b.txt': 'b\n', 'old.txt': 'a text that is long enough\n' },
    { 'a.txt': 'A\n', 'b.txt': null, 'old.txt': null, 'new\tname.txt': 'a text that is long enough\n', 文件: 'x' },
  );
  expect(await changedFiles(repository, base, sha)).toEqual([
    { path: 'a.txt', status: 'modified' },
    { path: 'b.txt', status: 'deleted' },
    { path: 'new\tname.txt', status: 'renamed', from: 'old.txt' },
    { path: '文件', status: 'added' },
  ]);
  expect(await changedFiles(repository, base, base)).toEqual([]);
});

test('R-TREE-10: a diff that is too long keeps a part of every file, the small ones whole', async () => {
  const { repository, base, sha } = await changed(
    { 'a.txt': 'a\n' },
    { 'a.txt': 'changed\n', 'lock.json': 'line of a lock file\n'.repeat(20_000), 'z.txt': 'last\n' },
  );
  const text = await diffText(repository, base, sha, 4_000);
  expect(text.length).toBeLessThan(4_200);
  expect(text).toContain('+changed');
  expect(text).toContain('+last');
  expect(text).toMatch(/\[19\d{3} more lines of this file's diff were cut\]/);
  expect(await diffText(repository, base, base)).toBe('');
});

test('R-TREE-10: documents are told from everything else', () => {
  expect(docsOnly(['README.md', 'docs/使用.md', 'LICENSE', 'docs/img/a.png', 'CHANGELOG.txt'])).toBe(true);
  for (const path of [
    'src/a.ts',
    'requirements.txt',
    'CMakeLists.txt',
    'docs/conf.py',
    'test/fixtures/a.md',
    'a.mdx',
    'logo.png',
    'robots.txt',
  ])
    expect(docsOnly(['README.md', path]), path).toBe(false);
  expect(docsOnly([])).toBe(false);
});
