import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startModelServer } from '../../testing/model-server.ts';
import { runCli } from '../helpers/npc-crew.ts';
import { coderAlone, honest, shop } from '../helpers/play.ts';
import { tempFolder, tempRepository } from '../helpers/temp-repository.ts';

test('R-E2E-60: a recorded run is replayed without a model and without a key, to the same end', async () => {
  const cassette = join(await tempFolder(), 'run.jsonl.gz');
  const run = async (env: Readonly<Record<string, string>>, ...flags: string[]) => {
    const repo = await tempRepository({ ...shop, ...coderAlone });
    const args = ['run', '--goal', 'make the test pass', '--repo', repo.path, '--in-process', '--json', ...flags];
    const { exit, stdout, stderr } = await runCli(args, { env: { ...env, HOME: await tempFolder() } });
    const { branch, ...told } = JSON.parse(stdout);
    return { exit, stderr, verdict: told.verdict, tree: await repo.git('rev-parse', `${branch}^{tree}`) };
  };
  const models = await startModelServer({ script: honest });
  const recorded = await run({ OPENAI_BASE_URL: models.url, NPC_MODEL: 'scripted' }, '--record', cassette);
  await models.close();
  expect(recorded).toMatchObject({ exit: 0, verdict: 'green' });

  const { stderr, ...replayed } = await run({}, '--replay', cassette);
  expect(replayed, stderr).toEqual({ exit: 0, verdict: 'green', tree: recorded.tree });
  expect(stderr.split('\n')[0]).toMatch(/^replay: models are not asked, their \d+ replies come from .*run\.jsonl\.gz$/);
  expect(stderr).toContain('0 of the recording not asked for, 0 requests differed');
});
