import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bash, coderAlone, setStage, shop, slug, storyOf, submit } from '../helpers/play.ts';

const forger = fileURLToPath(new URL('../fixtures/forger.mjs', import.meta.url));

test('R-E2E-14: results and events that an agent forges through its shell reach nobody', async () => {
  const claim = submit('npm test 通过');
  const stage = await setStage({
    files: { ...shop, ...coderAlone },
    script: { coder: [bash(`node ${forger}`), claim, claim] },
  });
  const { exit, cause, comment, frames, events } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'no_change' });

  const output = frames.map(({ payload }) => JSON.stringify(payload)).find((text) => text.includes('knock ')) ?? '';
  expect(output.match(/knock [^\\]*/g)).toEqual(Array(8).fill('knock Unexpected server response: 401'));
  expect(output.match(/post [^\\]*/g)?.map((line) => line.slice(-3))).toEqual(Array(4).fill('401'));
  expect(output).toContain('secrets\\n');

  expect(frames.filter((frame) => JSON.stringify(frame.payload).includes('FORGED'))).toEqual([]);
  expect(events('gate.finished')).toEqual([]);
  expect(events('verdict.reached')).toHaveLength(1);
  expect(comment).not.toContain('FORGED');
  expect(await stage.platform.pushes(slug)).toEqual([]);
});
