import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { honest, setStage, shop, storyOf } from '../helpers/play.ts';

test('R-E2E-71: a key of the run that lies in the repository reaches no model', async () => {
  const key = randomBytes(20).toString('hex');
  const look = { calls: [{ name: 'bash', arguments: { command: 'cat notes.txt' } }] };
  const stage = await setStage({
    script: { ...honest, coder: [look, ...honest.coder] },
    files: { ...shop, 'notes.txt': `the key is ${key}\n` },
    env: { OPENAI_API_KEY: key },
  });
  const { exit } = await storyOf(stage, stage.ask(`用 ${key} 修好 price`));
  expect(exit).toBe(0);
  const asked = JSON.stringify(stage.models.requests);
  expect(asked).toContain('the key is ***');
  expect(asked).not.toContain(key);
});
