import { expect, test } from 'vitest';
import { bash, branchesOf, coderAlone, priceTimes, setStage, shop, slug, storyOf, submit } from '../helpers/play.ts';

test('R-E2E-15: a change whose tests never pass is not delivered, and the comment shows their output', async () => {
  const claim = submit('npm test 通过');
  const tries = [3, 4, 5, 6, 7].flatMap((factor) => [bash(priceTimes(factor)), claim]);
  const stage = await setStage({ files: { ...shop, ...coderAlone }, script: { coder: tries } });
  const { exit, cause, comment, events } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'tests_failing' });
  expect(events('work.returned')).toHaveLength(4);
  expect(comment).toContain('`npm test` 在提交');
  expect(comment).toContain('14 !== 4');
  expect(comment).toMatch(/`npm test`（推断） \| ❌ 退出码 1/);
  expect(stage.platform.pulls(slug)).toEqual([]);
  const { wip, others } = await branchesOf(stage);
  expect(others).toEqual([]);
  expect(comment).toContain(wip);
});
