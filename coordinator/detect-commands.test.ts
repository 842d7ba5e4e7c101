import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainEnv, tempFolder, tempRepository } from '../test/helpers/temp-repository.ts';
import { detectCommands, gateCommands } from './detect-commands.ts';
import { openRepository } from './repository.ts';

async function detect(files: Record<string, string>) {
  const user = await tempRepository(files);
  const repository = await openRepository({
    stateDir: join(await tempFolder(), 'state'),
    checkout: user.path,
    env: plainEnv,
  });
  return detectCommands(repository, repository.baseSha);
}

const pack = (value: Record<string, unknown>) => ({ 'package.json': JSON.stringify(value) });

test('R-TREE-13: nothing known gives no commands', async () => {
  expect(await detect({ 'README.md': 'x' })).toEqual({ guessedFrom: [] });
});

test('R-TREE-13: package.json: the placeholder of npm init is no test, and without dependencies there is no set-up', async () => {
  expect(await detect(pack({ scripts: { test: 'echo "Error: no test specified" && exit 1' } }))).toEqual({
    guessedFrom: [],
  });
  expect(await detect(pack({ scripts: { test: 'node --test' } }))).toEqual({
    test: 'npm test',
    guessedFrom: ['package.json'],
  });
  expect(await detect({ 'package.json': '{ broken' })).toEqual({ guessedFrom: [] });
  expect(await detect({ 'package.json': '[]' })).toEqual({ guessedFrom: [] });
});

test('R-TREE-13: package.json: the lock file decides who installs and runs', async () => {
  const own = pack({
    scripts: { test: 'vitest run', build: 'tsc', lint: 'eslint .' },
    devDependencies: { vitest: '4' },
  });
  const cases: Record<string, [string, string, string]> = {
    'package-lock.json': ['npm ci', 'npm test', 'npm run build'],
    'pnpm-lock.yaml': ['pnpm install --frozen-lockfile', 'pnpm run test', 'pnpm run build'],
    'yarn.lock': ['yarn install --frozen-lockfile', 'yarn run test', 'yarn run build'],
    'bun.lock': ['bun install --frozen-lockfile', 'bun run test', 'bun run build'],
    'other.txt': ['npm install --no-package-lock', 'npm test', 'npm run build'],
  };
  for (const [lock, [setup, testing, build]] of Object.entries(cases))
    expect(await detect({ ...own, [lock]: '' }), lock).toMatchObject({ setup, test: testing, build });
  expect((await detect({ ...own, 'yarn.lock': '', '.yarnrc.yml': '' })).setup).toBe('yarn install --immutable');
  expect(
    (await detect(pack({ packageManager: 'pnpm@9.1.0', scripts: { test: 'x' }, dependencies: { a: '1' } }))).setup,
  ).toBe('pnpm install --no-lockfile');
});

test('R-TREE-13: package.json: a watcher is no test, and TypeScript alone is checked for types', async () => {
  expect((await detect(pack({ scripts: { test: 'jest --watch', 'test:ci': 'jest' } }))).test).toBe('npm run test:ci');
  expect((await detect(pack({ scripts: { test: 'jest --watch' } }))).test).toBeUndefined();
  expect((await detect(pack({ scripts: { test: 'react-scripts test --watchAll=false' } }))).test).toBe('npm test');
  const typed = await detect({
    ...pack({ devDependencies: { typescript: '6' } }),
    'tsconfig.json': '{}',
    'package-lock.json': '{}',
  });
  expect(typed).toEqual({ setup: 'npm ci', build: 'npx --no-install tsc --noEmit', guessedFrom: ['package.json'] });
});

test('R-TREE-13: Python: pytest, tox and unittest are told apart, and dependencies go into the tree', async () => {
  const venv = 'python3 -m venv --system-site-packages .venv && .venv/bin/python -m pip install -q';
  expect(await detect({ 'pyproject.toml': '[tool.pytest.ini_options]\n' })).toEqual({
    test: 'python3 -m pytest',
    guessedFrom: ['pyproject.toml'],
  });
  expect(await detect({ 'tox.ini': '[tox]\nenvlist = py\n' })).toEqual({ test: 'tox', guessedFrom: ['tox.ini'] });
  expect(await detect({ 'requirements.txt': 'requests\n', 'tests/test_a.py': 'import pytest\n' })).toEqual({
    setup: `${venv} -r requirements.txt`,
    test: '.venv/bin/python -m pytest',
    guessedFrom: ['requirements.txt'],
  });
  expect(await detect({ 'setup.py': '', 'tests/test_a.py': 'import unittest\n' })).toMatchObject({
    setup: `${venv} -e '.'`,
    test: '.venv/bin/python -m unittest discover -s tests -t .',
  });
  const project =
    '[project]\nname = "x"\ndependencies = ["requests"]\n[project.optional-dependencies]\ndocs = ["sphinx"]\ntest = ["pytest>=8"]\n[build-system]\n';
  expect(await detect({ 'pyproject.toml': project })).toMatchObject({
    setup: `${venv} -e '.[test]'`,
    test: '.venv/bin/python -m pytest',
  });
  expect(await detect({ 'pyproject.toml': '[tool.ruff]\n[tool.pytest.ini_options]\n', 'uv.lock': '' })).toEqual({
    setup: 'uv sync --locked --all-extras',
    test: 'uv run pytest',
    lint: 'uv run ruff check .',
    guessedFrom: ['pyproject.toml'],
  });
  expect(await detect({ 'pyproject.toml': '[tool.black]\n' })).toEqual({ guessedFrom: [] });
});

test('R-TREE-13: Go, Rust, Java and make', async () => {
  expect(await detect({ 'go.mod': 'module x\n' })).toEqual({
    build: 'go build ./...',
    test: 'go test ./...',
    lint: 'go vet ./...',
    guessedFrom: ['go.mod'],
  });
  expect(await detect({ 'Cargo.toml': '[workspace]\n', 'Cargo.lock': '' })).toMatchObject({
    test: 'cargo test --workspace --locked',
  });
  expect(await detect({ 'pom.xml': '<project/>' })).toMatchObject({ test: 'mvn -B -ntp test' });
  expect(await detect({ 'build.gradle.kts': '', gradlew: '' })).toMatchObject({
    test: 'sh ./gradlew --no-daemon test',
    guessedFrom: ['build.gradle.kts'],
  });
  expect(await detect({ Makefile: 'CC := gcc\nall: build\nbuild: x\n\tgcc\ncheck:\n\t./run\ntest := 1\n' })).toEqual({
    build: 'make build',
    test: 'make check',
    guessedFrom: ['Makefile'],
  });
});

test('R-TREE-13: sources complete each other in order, and set-up comes only from those that are used', async () => {
  const own = pack({ scripts: { lint: 'prettier --check .' }, devDependencies: { prettier: '3' } });
  expect(
    await detect({ ...own, 'package-lock.json': '{}', 'go.mod': 'module x\n', Makefile: 'test:\n\ttrue\n' }),
  ).toEqual({
    setup: 'npm ci',
    build: 'go build ./...',
    test: 'go test ./...',
    lint: 'npm run lint',
    guessedFrom: ['package.json', 'go.mod'],
  });
  expect(await detect({ ...pack({ devDependencies: { husky: '9' } }), 'go.mod': 'module x\n' })).toMatchObject({
    guessedFrom: ['go.mod'],
  });
});

test('R-TREE-13: what is configured counts before what is guessed, and an empty command means none', () => {
  const detected = { setup: 'npm ci', test: 'npm test', lint: 'npm run lint', guessedFrom: ['package.json'] };
  expect(gateCommands({}, detected)).toEqual([
    { kind: 'setup', command: 'npm ci', guessed: true },
    { kind: 'test', command: 'npm test', guessed: true },
    { kind: 'lint', command: 'npm run lint', guessed: true },
  ]);
  expect(gateCommands({ test: 'make test', lint: '' }, detected)).toEqual([
    { kind: 'setup', command: 'npm ci', guessed: true },
    { kind: 'test', command: 'make test', guessed: false },
  ]);
  expect(gateCommands({ setup: '', test: 'x' }, detected).map(({ kind }) => kind)).toEqual(['test', 'lint']);
});
