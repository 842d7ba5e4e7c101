import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTimeOf } from './process-facts.ts';
import { agentSpawner } from './spawn-agent.ts';

/** Spawns a stand-in for the program that notes how it was started and then does `body`. */
async function spawnStandIn(body: string, order = { name: 'coder-1', role: 'coder' }) {
  const folder = await mkdtemp(join(tmpdir(), 'npc-spawn-'));
  const program = join(folder, 'program.mjs');
  await writeFile(
    program,
    `import { readFileSync, writeFileSync } from 'node:fs';
     const stdin = readFileSync(0, 'utf8');
     writeFileSync(${JSON.stringify(join(folder, 'start.json'))}, JSON.stringify({ args: process.argv.slice(2), env: process.env, stdin }));
     ${body}`,
  );
  const lines: string[] = [];
  let heard: () => void = () => {};
  const spawnAgent = agentSpawner({
    hubUrl: 'ws://127.0.0.1:1',
    gatewayUrl: 'http://127.0.0.1:2/v1',
    stateDir: folder,
    env: { PATH: '/usr/bin:/bin' },
    secretsFor: ({ name }) => ({ hub_token: `hub-${name}`, process_token: `gateway-${name}` }),
    say: (line) => {
      lines.push(line);
      heard();
    },
    command: [process.execPath, program],
  });
  const said = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const agent = await spawnAgent(order);
  return { agent, lines, said, start: async () => JSON.parse(await readFile(join(folder, 'start.json'), 'utf8')) };
}

test('R-CLI-5: secrets come as one line of JSON on stdin, and neither arguments nor environment hold them', async () => {
  const { agent, start } = await spawnStandIn('');
  expect(await agent.exited).toEqual({ exit: 0, signal: null });
  const { args, env, stdin } = await start();
  expect(stdin).toBe('{"hub_token":"hub-coder-1","process_token":"gateway-coder-1"}\n');
  expect(args.slice(0, 4)).toEqual(['agent', 'coder', '--name', 'coder-1']);
  expect(JSON.stringify([args, env])).not.toContain('-coder-1"');
  expect(Object.keys(env)).toEqual(['PATH']);
});

test('R-CLI-5: what an agent writes to stderr is told under its name', async () => {
  const { said, lines } = await spawnStandIn(`console.error('no such model')`);
  await said;
  expect(lines).toEqual(['coder-1: no such model']);
});

test('R-CLI-5: an agent that was killed leaves no process of its group behind', async () => {
  const { agent, said, lines } = await spawnStandIn(
    `import { spawn } from 'node:child_process';
     const child = spawn('sleep', ['60'], { stdio: 'ignore' });
     console.error(child.pid);
     setInterval(() => {}, 1000);`,
  );
  await said;
  const sleeper = Number(lines[0]?.split(': ')[1]);
  expect(await startTimeOf(sleeper)).not.toBe('');
  process.kill(agent.pid, 'SIGKILL');
  expect(await agent.exited).toEqual({ exit: null, signal: 'SIGKILL' });
  await expect.poll(() => isAlive(sleeper)).toBe(false);
});

test('R-CLI-5: the start time of a process tells it from another with the same pid', async () => {
  expect(await startTimeOf(process.pid)).toMatch(/^\d+$/);
  expect(await startTimeOf(process.pid)).toBe(await startTimeOf(process.pid));
  expect(await startTimeOf(2 ** 22 + 1)).toBe('');
});

/** A zombie counts as gone: whoever adopted it has yet to look. */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) [ZX] /.test(stat);
}
