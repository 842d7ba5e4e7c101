import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProcesses } from '../base/process-tree.ts';
import type { GateRun } from '../protocol/index.ts';
import { plainEnv, tempFolder, tempRepository } from '../test/helpers/temp-repository.ts';
import { type GateOptions, runGates } from './gates.ts';
import { openRepository } from './repository.ts';
import type { GateCommand } from './toolchain.ts';
import { listTrees } from './trees.ts';

const secret = ['un', 'guessable', 'Value42'].join('');

async function gatesOf(files: Record<string, string> = { 'a.txt': 'a\n' }) {
  const user = await tempRepository(files);
  const stateDir = join(await tempFolder(), 'state');
  const repository = await openRepository({ stateDir, checkout: user.path, env: plainEnv, secrets: [secret] });
  const run = (commands: GateCommand[], more: Partial<GateOptions> = {}) =>
    runGates({ repository, sha: repository.baseSha, commands, env: plainEnv, timeoutMs: 20_000, ...more });
  const one = async (command: string, more: Partial<GateOptions> = {}) =>
    (await run([{ kind: 'test', command }], more))[0] as GateRun;
  return { repository, user, run, one };
}

test('R-TREE-11: commands run in order, set-up first, in a clean tree at the commit, which is thrown away', async () => {
  const { repository, run } = await gatesOf({ 'a.txt': 'committed\n' });
  const told: string[] = [];
  const gates = await run(
    [
      { kind: 'test', command: 'cat a.txt made.txt; pwd' },
      { kind: 'setup', command: 'echo made > made.txt' },
      { kind: 'added', command: 'echo out; echo err >&2; exit 3' },
    ],
    { onGate: (gate) => void told.push(gate.id) },
  );
  expect(gates.map(({ id, kind, exit, sha }) => [id, kind, exit, sha === repository.baseSha])).toEqual([
    ['gate-1', 'setup', 0, true],
    ['gate-2', 'test', 0, true],
    ['gate-3', 'added', 3, true],
  ]);
  expect(gates[1]?.tail).toMatch(new RegExp(`^committed\\nmade\\n${repository.stateDir}/trees/`));
  expect(gates[2]?.tail).toBe('out\nerr');
  expect(told).toEqual(['gate-1', 'gate-2', 'gate-3']);
  expect(await listTrees(repository)).toEqual([]);
});

test('R-TREE-11: a failure inside a pipe or in an earlier line fails the command', async () => {
  const { one } = await gatesOf();
  expect((await one('false | cat')).exit).toBe(1);
  expect((await one('false\ntrue')).exit).toBe(1);
  expect((await one('kill -SEGV $$')).exit).toBe(139);
});

test('R-TREE-11: after a failed set-up nothing is run, and each gate says why', async () => {
  const { run, repository } = await gatesOf();
  const mark = join(repository.stateDir, 'ran');
  const gates = await run([
    { kind: 'setup', command: 'exit 4' },
    { kind: 'test', command: `touch ${mark}` },
  ]);
  expect(gates[1]).toMatchObject({ exit: null, tail: '[not run: the set-up failed: exit 4]' });
  await expect(stat(mark)).rejects.toThrow();
});

test('R-TREE-11: the tail is the last 3,000 characters, whole characters, without colours and redrawn lines, secrets masked', async () => {
  const { one } = await gatesOf();
  const long = await one(`printf '😀%.0s' {1..4000}; printf x`);
  expect(long.tail).toMatch(/^(😀)+x$/u);
  expect(long.tail.length).toBeGreaterThan(2_990);
  const split = await one(
    `printf '\\xe2'; sleep 0.05; printf '\\x80\\x94 \\033[31mred\\033[0m\\n10%%\\r50%%\\r100%%\\nbad \\xff byte\\n'`,
  );
  expect(split.tail).toBe('— red\n100%\nbad \uFFFD byte');
  const lines: string[] = [];
  const leaking = await one(`echo ${secret.slice(0, 5)}'${secret.slice(5)}'`, { onOutput: (line) => lines.push(line) });
  expect(leaking.tail).toBe('***');
  expect(lines).toEqual(['***']);
});

test('R-TREE-11: a command that asks gets no answer and does not wait', async () => {
  const { one } = await gatesOf();
  expect(await one('cat; read -p "ok? " x || echo "got nothing"')).toMatchObject({ exit: 0, tail: 'got nothing' });
});

test('R-TREE-11: what a command leaves running does not hold it up and is ended, also when it left the group (A1)', async () => {
  const { one, repository } = await gatesOf();
  const started = performance.now();
  const gate = await one('setsid sleep 60 & (setsid env -i sleep 61 &) ; sleep 62 & echo done');
  expect(gate).toMatchObject({ exit: 0, tail: 'done' });
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(await findProcesses({ folder: join(repository.stateDir, 'trees') })).toEqual([]);
});

test('R-TREE-11: a command over its time is ended with everything it started, and says so', async () => {
  const { one, repository } = await gatesOf();
  const gate = await one('echo begun; trap "" TERM; setsid sleep 60 & sleep 61; sleep 62', { timeoutMs: 300 });
  expect(gate).toMatchObject({ exit: null, tail: 'begun\n[ended: it was not done after 0 s]' });
  expect(gate.missing).toBeUndefined();
  expect(await findProcesses({ folder: join(repository.stateDir, 'trees') })).toEqual([]);
});

test('R-TREE-11: a cancelled run ends its gates at once and leaves neither process nor tree', async () => {
  const { run, repository } = await gatesOf();
  const stop = new AbortController();
  const waiting = run([{ kind: 'test', command: 'echo begun; trap "" TERM; sleep 60' }], {
    signal: stop.signal,
    onOutput: () => stop.abort(new Error('told to stop')),
  });
  await expect(waiting).rejects.toThrow('told to stop');
  expect(await findProcesses({ folder: join(repository.stateDir, 'trees') })).toEqual([]);
  expect(await listTrees(repository)).toEqual([]);
  await expect(run([{ kind: 'test', command: 'true' }], { signal: stop.signal })).rejects.toThrow('told to stop');
});

test('R-TREE-11: commands see the given environment and nothing of ours', async () => {
  const { one } = await gatesOf();
  const { tail } = await one('env', { env: { PATH: plainEnv.PATH ?? '', GIVEN: 'yes' } });
  const names = tail
    .split('\n')
    .map((line) => line.split('=')[0])
    .sort();
  expect(names).toEqual([
    'CI',
    'GIVEN',
    'LANGUAGE',
    'NPC_COMMAND',
    'PATH',
    'PWD',
    'SHLVL',
    '_',
    'npm_config_script_shell',
  ]);
});

test('R-TREE-11: what a command writes reaches neither the commit nor the checkout', async () => {
  const { one, user } = await gatesOf();
  expect(await one('echo changed > a.txt; rm -rf .git; git status --short || echo no repository')).toMatchObject({
    exit: 0,
  });
  expect(await readFile(join(user.path, 'a.txt'), 'utf8')).toBe('a\n');
});

test('R-TREE-12: a missing program is named, wherever the command meets it', async () => {
  const files = { Makefile: 'test:\n\tno-such-compiler build\n', 'run.sh': '#!/usr/bin/env no-such-shell\n' };
  const { one, run } = await gatesOf(files);
  const cases: Record<string, string> = {
    'no-such-tool test': 'no-such-tool',
    'cd . && FOO=1 no-such-tool --x': 'no-such-tool',
    'sh -c "no-such-tool ./..."': 'no-such-tool',
    'chmod +x run.sh && ./run.sh': 'no-such-shell',
  };
  for (const [command, program] of Object.entries(cases))
    expect(await one(command), command).toMatchObject({ exit: 127, missing: program });
  expect((await one('exit 1')).missing).toBeUndefined();
  const gates = await run([
    { kind: 'setup', command: 'no-such-installer' },
    { kind: 'test', command: 'true' },
  ]);
  expect(gates.map((gate) => gate.missing)).toEqual(['no-such-installer', 'no-such-installer']);
});

test('R-TREE-11: neither a script shell in an .npmrc nor a program beside the trees answers in place of a script', async () => {
  const { repository, one } = await gatesOf({
    'package.json': JSON.stringify({ name: 'a', scripts: { test: 'checker' } }),
    '.npmrc': 'script-shell=/bin/true\n',
  });
  for (const folder of [repository.stateDir, join(repository.stateDir, 'trees')]) {
    const shims = join(folder, 'node_modules', '.bin');
    await mkdir(shims, { recursive: true });
    await writeFile(join(shims, 'checker'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  }
  expect((await one('npm test')).exit).toBe(127);
});

test('R-TREE-11: an object that was replaced in the clone is not what the commands see', async () => {
  const { repository, one } = await gatesOf({ 'a.txt': 'as committed\n' });
  const { stdout: blob } = await repository.git(['rev-parse', `${repository.baseSha}:a.txt`]);
  const { stdout: other } = await repository.git(['hash-object', '-w', '--stdin'], { input: 'something else\n' });
  await repository.git(['update-ref', `refs/replace/${blob.trim()}`, other.trim()]);
  expect((await one('cat a.txt')).tail).toBe('as committed');
});
