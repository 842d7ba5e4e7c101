import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTimeOf } from './process-facts.ts';

const supervisor = new URL('../dist/cli/supervisor.js', import.meta.url).href;

/** A supervisor process over a child that notes each start and then does `body`. */
async function start(body: string) {
  const folder = await mkdtemp(join(tmpdir(), 'npc-supervisor-'));
  const notes = join(folder, 'starts');
  const child = join(folder, 'child.mjs');
  const parent = join(folder, 'parent.mjs');
  const note = `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(notes)}, process.argv.slice(2).join(' ') + '\\n');`;
  await writeFile(child, `${note}\n${body}\nprocess.stdout.write('up ' + process.pid + '\\n');`);
  await writeFile(
    parent,
    `import { supervise } from ${JSON.stringify(supervisor)};
     process.exit(await supervise([process.execPath, ${JSON.stringify(child)}, 'run'], { say: (line) => process.stderr.write(line + '\\n') }));`,
  );
  const running = spawn(process.execPath, [parent], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  running.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const exited = once(running, 'exit') as Promise<[number | null]>;
  return {
    running,
    /** pid of the next child that comes up. */
    up: async () => Number(/up (\d+)/.exec(String((await once(running.stdout, 'data'))[0]))?.[1]),
    exit: async () => (await exited)[0],
    starts: async () => (await readFile(notes, 'utf8')).trim().split('\n'),
    errors: () => errors,
  };
}

const staysUp = 'setInterval(() => {}, 1000);';

test('R-CLI-4: a run that ends by itself is not started again, and its exit code is kept', async () => {
  const { exit, starts } = await start('process.exitCode = 4;');
  expect(await exit()).toBe(4);
  expect(await starts()).toEqual(['run']);
});

test('R-CLI-4: a run that is killed is started again with --resume, twice, and no third time', async () => {
  const { up, exit, starts, errors } = await start(staysUp);
  for (let kills = 0; kills < 3; kills += 1) process.kill(await up(), 'SIGKILL');
  expect(await exit()).toBe(1);
  expect(await starts()).toEqual(['run', 'run --resume', 'run --resume']);
  expect(errors()).toContain('giving up');
});

test('R-CLI-4: a signal is handed on, and the run has the last word about the exit code', async () => {
  const { running, up, exit, starts } = await start(`${staysUp} process.on('SIGTERM', () => process.exit(143));`);
  await up();
  running.kill('SIGTERM');
  expect(await exit()).toBe(143);
  expect(await starts()).toEqual(['run']);
});

test('R-CLI-4: a run that dies by the signal that was handed on is not started again', async () => {
  const { running, up, exit, starts } = await start(staysUp);
  await up();
  running.kill('SIGINT');
  expect(await exit()).toBe(130);
  expect(await starts()).toEqual(['run']);
});

test('R-CLI-4: a signal that comes the moment the run appears ends both', async () => {
  for (let times = 0; times < 5; times += 1) {
    const { running, exit } = await start(staysUp);
    let child = '';
    while (child === '') child = (await readFile(`/proc/${running.pid}/task/${running.pid}/children`, 'utf8')).trim();
    running.kill('SIGTERM');
    expect(await exit()).toBe(143);
    expect(await startTimeOf(Number(child))).toBe('');
  }
});
