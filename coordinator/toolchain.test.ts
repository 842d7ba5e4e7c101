import { chmod } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { tempFolder, writeFiles } from '../test/helpers/temp-repository.ts';
import { neededPrograms } from './shell-words.ts';
import { dockerfileCure, missingFrom, missingPrograms } from './toolchain.ts';

test('R-TREE-12: the programs of a command line are read as a shell would', () => {
  const cases: Record<string, string[]> = {
    'npm test': ['npm'],
    'cd x && FOO=1 npm test': ['npm'],
    'FOO="a b" BAR=$(date +%s) go test ./...': ['go'],
    'env -i A=1 B=2 cargo test': ['cargo'],
    'timeout -k 5 600s mvn -B test': ['mvn'],
    'time -p make test': ['make'],
    'npm ci && npm run build; go vet ./... | tee log': ['npm', 'go', 'tee'],
    '(cd web && pnpm test) && pytest -q': ['pnpm', 'pytest'],
    'npm test > out.txt 2>&1 < /dev/null && cat out.txt': ['npm', 'cat'],
    '2>/dev/null npm test': ['npm'],
    'npm test &>log & wait': ['npm'],
    './gradlew test': [],
    '.venv/bin/python -m pytest': [],
    '$RUNNER test': [],
    'command -v go': [],
    'command -v go || apt-get install go': [],
    'yarn test || npm test; tox': ['tox'],
    '! grep -r TODO src': ['grep'],
    'if true; then npm test; fi': [],
    'npm ci; for x in a b; do go test; done': ['npm'],
    'echo "npm && go" \'; cargo\' # mvn test': [],
    'echo a \\\n  b && "npm" test': ['npm'],
    'npm test\ngo test': ['npm', 'go'],
    'set -e; export A=1; exec python3 -m pytest': ['python3'],
    '': [],
    '"unterminated': [],
  };
  for (const [command, programs] of Object.entries(cases)) expect(neededPrograms(command), command).toEqual(programs);
});

test('R-TREE-12: reading a hostile command line takes no time', () => {
  const started = performance.now();
  for (const piece of ['"\\', '$(', "'", '((', '<<', 'a=', '`']) neededPrograms(piece.repeat(20_000));
  expect(performance.now() - started).toBeLessThan(2_000);
});

test('R-TREE-12: programs are looked for on PATH; a file that cannot run is none', async () => {
  const folder = await tempFolder();
  await writeFiles(folder, { 'bin/npm': '#!/bin/sh\n', 'bin/go': 'not executable', 'bin/cargo/x': '' });
  await chmod(`${folder}/bin/npm`, 0o755);
  await chmod(`${folder}/bin/go`, 0o644);
  const commands = ['npm test && go test', 'cargo test'].map((command) => ({ kind: 'test' as const, command }));
  expect(await missingPrograms(commands, `/nonexistent:${folder}/bin`)).toEqual(['go', 'cargo']);
});

test('R-TREE-12: what a set-up command may bring is not called missing before it ran', async () => {
  const commands = [
    { kind: 'setup' as const, command: 'no-installer install' },
    { kind: 'test' as const, command: 'pytest && vitest run && mvn test' },
  ];
  expect(await missingPrograms(commands, '/nonexistent')).toEqual(['no-installer', 'mvn']);
});

test('R-TREE-12: the cure is a whole Dockerfile, in the language of the request', () => {
  const cure = dockerfileCure('go', 'zh-CN');
  expect(cure).toMatch(/带有 `go`/);
  expect(cure).toContain('FROM golang:1.25-bookworm\nCOPY --from=npc-crew /opt/npc-crew /opt/npc-crew\nRUN ln -s');
  expect(dockerfileCure('mvn', 'en')).toMatch(/has `mvn`[\s\S]*FROM maven/);
  expect(dockerfileCure('frobnicate', 'en')).toContain('`commands.setup`');
  expect(dockerfileCure('constructor', 'en')).toContain('`commands.setup`');
});

test('R-TREE-12: a missing program is told from a test that failed', () => {
  expect(missingFrom('npm test', 127, 'sh: 1: go: not found')).toBe('go');
  expect(missingFrom('npm test', 127, 'bash: line 1: npm: command not found')).toBe('npm');
  expect(
    missingFrom('make test', 2, 'make: go: No such file or directory\nmake: *** [Makefile:2: test] Error 127'),
  ).toBe('go');
  expect(missingFrom('python3 -m pytest', 1, '/usr/bin/python3: No module named pytest')).toBe('pytest');
  expect(missingFrom('python3 -m pytest', 1, "ModuleNotFoundError: No module named 'requests'")).toBeUndefined();
  expect(missingFrom('npm test', 1, 'expected "sh: 1: go: not found"')).toBeUndefined();
  expect(missingFrom('npm test', 0, 'sh: 1: go: not found')).toBeUndefined();
  expect(missingFrom('FOO=1 ./run.sh', 127, '')).toBe('./run.sh');
});
