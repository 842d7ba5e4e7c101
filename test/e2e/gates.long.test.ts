import { expect, test } from 'vitest';
import { bash, coderAlone, setStage, shop, slug, storyOf, submit } from '../helpers/play.ts';

test('R-E2E-16: a change that weakens the tests goes back, and is not delivered when it comes again', async () => {
  const claim = submit('测试通过');
  const deleted = bash("rm price.test.mjs && printf 'a' >> notes.txt");
  const skipped = bash('printf \'test.skip("doubles", () => {});\\n\' > price.test.mjs');
  const stage = await setStage({
    files: { ...shop, ...coderAlone },
    script: { coder: [deleted, claim, skipped, claim, deleted, claim, deleted, claim, deleted, claim] },
  });
  const { exit, cause, comment, events } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'tests_weakened' });
  const objections = events('work.returned').map(({ issues }) => issues[0]?.message);
  expect(objections).toHaveLength(4);
  expect(objections[0]).toContain('测试文件被删除，其中有 "doubles"');
  expect(comment).toContain('price.test.mjs');
  expect(comment).toContain('若确实要改测试，请在请求里写明');
  expect(stage.platform.pulls(slug)).toEqual([]);
});

test('R-E2E-18: a change of documents alone needs no command', async () => {
  const stage = await setStage({
    files: { 'README.md': '# Shop\n', 'hello.sh': 'echo hello\n', ...coderAlone },
    script: {
      coder: [bash("printf '# Shop\\n\\nIt doubles prices.\\n' > README.md"), submit('README says what it does')],
      judge: ['complete [E1]'],
    },
  });
  const { exit, comment } = await storyOf(stage, stage.ask('Please say in the README what the shop does.'));
  expect(exit).toBe(0);
  expect(comment).toContain('### ✅ Done');
  expect(comment).toContain('No command was run.');
});
