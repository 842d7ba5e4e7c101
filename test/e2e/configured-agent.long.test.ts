import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startModelServer } from '../../testing/model-server.ts';
import { runCli } from '../helpers/npc-crew.ts';
import { honest, shop } from '../helpers/play.ts';
import { tempFolder, tempRepository } from '../helpers/temp-repository.ts';

const standIn = fileURLToPath(new URL('../../examples/stand-in-coder.mjs', import.meta.url));
const goal = 'In `price.mjs` replace `=> amount;` with `=> amount * 2;`.';

test('R-E2E-50: a program that .npc/config.yml names for a role is started by the run and plays it', async () => {
  const exec = `${process.execPath} ${standIn} {task} {result}`;
  const repository = await tempRepository({
    ...shop,
    '.npc/config.yml': `agents:\n  - role: coder\n    exec: ${JSON.stringify(exec)}\n`,
  });
  const models = await startModelServer({ script: honest });
  onTestFinished(() => models.close());
  const state = join(await tempFolder(), 'state');
  const env = { HOME: state, OPENAI_BASE_URL: models.url, NPC_MODEL: 'scripted' };
  const run = ['run', '--repo', repository.path, '--goal', goal, '--state', state, '--json'];
  const { exit, stdout, stderr } = await runCli(run, { env });
  expect({ exit }, stderr + stdout).toEqual({ exit: 0 });
  const { branch } = JSON.parse(stdout) as { branch: string };
  expect(await repository.git('show', `${branch}:price.mjs`)).toContain('amount * 2');
  expect(models.requests.map(({ role }) => role)).toEqual(['architect', 'reviewer', 'verifier', 'judge']);
});
