import { expect, test } from 'vitest';
import { startHubProcess, testHome } from '../helpers/cli-stage.ts';
import { runCli, startCli } from '../helpers/npc-crew.ts';
import { helloPeer } from '../helpers/peer.ts';

test('R-CLI-48: a task is given, asked about, answered, waited for and ended by hand', async () => {
  const { home, env } = await testHome();
  const { url, state } = await startHubProcess(home);
  const { peer: worker } = await helloPeer(url, 'painter-1', { roles: ['painter'] });
  const tasks = (...args: string[]) => runCli(['tasks', ...args], { env });
  const wrong = await tasks('give', 'painter', 'a tree', '--hub', url);
  expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('name role:painter') });

  const waiting = startCli(
    ['tasks', 'give', 'role:painter', '画一棵树', '--id', 'k.paint', '--wait', '--state', state],
    { env },
  );
  await worker.next('task.assign');
  const own = { task_id: 'k.paint', attempt: 1 };
  worker.send({ type: 'task.accept', ...own, payload: null });
  worker.send({ type: 'task.input', ...own, payload: { question: '哪一棵？' } });
  await waiting.until(/painter-1 asks: 哪一棵？/);
  await waiting.until(/npc-crew tasks answer k\.paint '…' --state \S+/);
  const answered = await tasks('answer', 'paint', '橡树', '--json', '--hub', url);
  expect(answered.stdout).toBe('{"task_id":"k.paint","text":"橡树"}\n');
  expect((await worker.next('task.answer')).payload).toMatchObject({ text: '橡树' });
  const payload = { status: 'success', summary: '画好了', artifacts: [], issues: [] };
  worker.send({ type: 'task.result', ...own, payload });
  expect(await waiting.result).toMatchObject({ exit: 0, stdout: 'success: 画好了\n' });

  const given = await tasks('--hub', url, 'give', 'role:nobody', 'rest', '--as', 'ann');
  expect(given.stdout).toMatch(/^t-[0-9a-f]{6}\n$/);
  expect(given.stderr).toContain('nobody is here for role:nobody yet');
  expect(given.stderr).toContain(`npc-crew tasks cancel ${given.stdout.trim()} --hub ${url}`);
  const ended = await tasks('cancel', given.stdout.trim(), '--reason', '不要了', '--hub', url);
  expect(ended.stdout).toMatch(/is being cancelled: 不要了\n$/);
  expect((await tasks('--hub', url, '--json')).stdout).toMatch(/"owner":"ann".*"state":"failed".*"reason":"不要了"/);
  const again = await tasks('cancel', given.stdout.trim(), '--hub', url);
  expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('cancelled') });
  await worker.close();
});
