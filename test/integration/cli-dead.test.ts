import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openStorage } from '../../hub/sqlite-storage.ts';
import { startHubProcess, testHome } from '../helpers/cli-stage.ts';
import { runCli, startCli } from '../helpers/npc-crew.ts';

let home: string;
let state: string;
let env: Record<string, string>;

beforeEach(async () => {
  ({ home, env } = await testHome());
  state = join(home, 'state');
});

/** A state folder with a dead letter for each of these names, at 1, 2, …. */
async function deadFor(...names: string[]): Promise<void> {
  await mkdir(state);
  const { storage } = await openStorage(join(state, 'log.db'));
  for (const [index, box] of names.entries()) {
    const frame = { type: 'route', from: 'ann', to: box, task_id: '', payload: `旧消息 ${index + 1}`, id: `m${index}` };
    const row = { ...frame, box, taskId: '', attempt: null, body: Buffer.from(JSON.stringify(frame)) };
    await storage.commit([{ kind: 'message', row }], 1000);
    await storage.commit([{ kind: 'dead', box, after: index, upto: index + 1, reason: 'expired' }], 2000);
  }
  await storage.close();
}

const dead = (...args: string[]) => runCli(['dead', ...args], { env });
const listed = async (...where: string[]) =>
  (await dead('list', '--json', ...where)).stdout
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line).lsn]));
const leftOn = async (url: string) => {
  const { dead } = (await (await fetch(`${url.replace('ws', 'http')}/v1/dead`)).json()) as { dead: { lsn: number }[] };
  return dead.map(({ lsn }) => lsn);
};

test('R-CLI-25: dead letters of a folder are listed and dropped, by position, by name and all of them', async () => {
  await deadFor('bob', 'eve', 'bob', 'eve');
  const [{ stdout }, unsure] = await Promise.all([
    dead('list', '--state', state),
    dead('drop', '--all', '--state', state),
  ]);
  expect(unsure).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringMatching(/add --yes/) });
  expect(stdout).toMatch(/^LSN +FOR +DIED +WHY +FROM +TYPE +TEXT\n1 +bob +1970-.* expired +ann +route +旧消息 1\n/);
  expect(await dead('drop', '1', '--state', state)).toMatchObject({ exit: 0, stdout: '1 dead letter dropped\n' });
  expect(await dead('drop', '--box', 'eve', '--state', state)).toMatchObject({ stdout: '2 dead letters dropped\n' });
  expect(await dead('drop', '--all', '--yes', '--state', state)).toMatchObject({ stdout: '1 dead letter dropped\n' });
  expect(await dead('list', '--state', state)).toMatchObject({ exit: 0, stdout: 'no dead letters\n' });
});

test('R-CLI-25: while a hub is at work in the folder, it does the dropping', async () => {
  await deadFor('bob', 'eve', 'bob');
  const { hub, url } = await startHubProcess(home);
  expect(await listed('--hub', url)).toEqual([1, 2, 3]);
  const drops = await Promise.all([dead('drop', '3', '--state', state), dead('drop', '--box', 'eve', '--hub', url)]);
  for (const drop of drops) expect(drop).toMatchObject({ exit: 0, stdout: '1 dead letter dropped\n' });
  expect(await leftOn(url)).toEqual([1]);
  expect(await dead('drop', '2', '--hub', url)).toMatchObject({
    exit: 2,
    stderr: expect.stringMatching(/no dead letter 2, .*dead list/),
  });
  // through its address, so that a hub that cannot be reached is told instead of written beside
  process.kill(hub.child.pid ?? 0, 'SIGSTOP');
  const waiting = startCli(['dead', 'drop', '1', '--state', state], { env });
  onTestFinished(() => void waiting.child.kill('SIGKILL'));
  expect(await listed('--state', state)).toEqual([1]);
  process.kill(hub.child.pid ?? 0, 'SIGCONT');
  expect(await waiting.result).toMatchObject({ exit: 0 });
});
