import { expect, test } from 'vitest';
import { honest, setStage, shop, stackTrace, storyOf } from '../helpers/play.ts';

const cycle = [
  { id: 'a', target_agent: 'architect', next: 'b' },
  { id: 'b', target_agent: 'coder', next: 'a' },
];

test.each([
  ['.npc/flow.json', JSON.stringify([{ id: 'a', target_agent: 'painter' }]), ['painter', 'coder']],
  ['.npc/flow.json', JSON.stringify(cycle), ['a -> b -> a']],
  ['.npc/flow.json', '[{"id": "a",', ['.npc/flow.json', 'JSON']],
  ['.npc/config.yml', 'language: zh-CN\ncommands:\n  test: [npm\n', ['.npc/config.yml', 'line']],
  ['.npc/config.yml', 'commands:\n  tests: npm test\n', ['.npc/config.yml', 'line 2', 'tests']],
])('R-E2E-46: a wrong %s is misconfigured and told in the comment: %j', async (path, text, words) => {
  const stage = await setStage({ script: honest, files: { ...shop, [path]: text } });
  const build = stage.ask();
  const { exit, comments, events } = await storyOf(stage, build);
  expect({ exit, comments: comments.length }, build.output).toEqual({ exit: 3, comments: 1 });
  expect(events('verdict.reached')).toMatchObject([{ verdict: 'red', cause: 'misconfigured', rerun_helps: false }]);
  for (const word of words) expect(comments[0]).toContain(word);
  expect(stage.models.requests).toEqual([]);
  expect(build.output).not.toMatch(stackTrace);
});
