import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { endProcesses, findProcesses, killQuietly } from './process-tree.ts';

test.runIf(process.platform === 'linux')(
  'R-TREE-6: a process that left its group and its parent is found by its mark and ended',
  async () => {
    const variable = { name: 'NPC_TEST_MARK', value: String(Math.random()) };
    const script =
      'setsid sleep 60 >/dev/null 2>&1 & (setsid sh -c "cd / && sleep 61 & exec sleep 62" >/dev/null 2>&1 &) ; echo ready';
    const shell = spawn('bash', ['-c', script], { env: { PATH: process.env.PATH, [variable.name]: variable.value } });
    await once(shell, 'exit');
    expect((await findProcesses({ variable })).length).toBeGreaterThan(0);
    expect(await endProcesses({ variable })).toEqual([]);
    expect(await findProcesses({ variable })).toEqual([]);
  },
);

test.runIf(process.platform === 'linux')('R-TREE-6: a process is found by the folder it works in', async () => {
  const shell = spawn('sleep', ['60'], { cwd: '/usr/share', env: { PATH: process.env.PATH } });
  await once(shell, 'spawn');
  const ids = async (folder: string) => (await findProcesses({ folder })).map(({ pid }) => pid);
  expect(await ids('/usr/share')).toContain(shell.pid);
  expect(await ids('/usr/sha')).not.toContain(shell.pid);
  shell.kill('SIGKILL');
  await once(shell, 'exit');
  expect(await ids('/usr/share')).not.toContain(shell.pid);
});

test('R-TREE-6: a signal to a process that is gone does nothing', () => {
  expect(() => killQuietly(2 ** 30, 'SIGTERM')).not.toThrow();
});
