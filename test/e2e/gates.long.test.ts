import { expect, test } from 'vitest';
import { bash, coderAlone, fix, honest, priceTimes, setStage, shop, slug, storyOf, submit } from '../helpers/play.ts';

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

test('R-E2E-15: tests that a coder ran before its last edit do not count', async () => {
  const claim = submit('npm test 通过');
  const greenThenBroken = bash(`${priceTimes(2)} && npm test && ${priceTimes(3)}`);
  const stage = await setStage({
    files: { ...shop, ...coderAlone },
    script: { ...honest, coder: [greenThenBroken, claim, ...fix] },
  });
  const { exit, frames, events } = await storyOf(stage, stage.ask());
  expect(exit).toBe(0);
  const gates = events('gate.finished').map(({ gate }) => ({ command: gate.command, exit: gate.exit, sha: gate.sha }));
  const { headSha } = await stage.platform.pull(slug, stage.platform.pulls(slug)[0]?.number ?? '');
  expect(gates).toMatchObject([{ exit: 1 }, { exit: 0, sha: headSha }]);
  expect(gates[0]?.sha).not.toBe(headSha);
  const again = frames.find((frame) => frame.type === 'task.assign' && frame.task_id.endsWith('.code.r1'));
  expect(JSON.stringify(again?.payload)).toContain('6 !== 4');
});

test('R-E2E-17: without the toolchain a change is pushed, and the comment gives the image that has it', async () => {
  const files = {
    'go.mod': 'module example.com/shop\n\ngo 1.22\n',
    'price.go': 'package shop\n\nfunc Price(amount int) int { return amount }\n',
    'price_test.go':
      'package shop\n\nimport "testing"\n\nfunc TestPrice(t *testing.T) {\n\tif Price(2) != 4 {\n\t\tt.Fail()\n\t}\n}\n',
    ...coderAlone,
  };
  const change = bash("sed -i 's/return amount/return amount * 2/' price.go");
  const stage = await setStage({
    files,
    script: { ...honest, coder: [change, submit('改好了，没有 go，未运行测试')] },
  });
  const { exit, cause, comment } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 4, cause: 'toolchain_missing' });
  expect(comment).toContain('### ⚠️ 部分完成');
  expect(comment).toContain('未运行：缺少 go');
  expect(comment).toMatch(
    /```dockerfile\n {2}FROM golang:\S+\n {2}COPY --from=npc-crew \/opt\/npc-crew \/opt\/npc-crew\n/,
  );
  expect(stage.platform.pulls(slug)).toHaveLength(1);
});

test('R-E2E-18: a change that no command can check is delivered as unverified, with the line that mends it', async () => {
  const stage = await setStage({
    files: { 'hello.sh': 'echo hello\n', ...coderAlone },
    script: { coder: [bash("printf 'echo hi\\n' > hello.sh"), submit('hello.sh now says hi')] },
  });
  const { exit, cause, comment } = await storyOf(stage, stage.ask('Please make hello.sh say hi.'));
  expect({ exit, cause }).toEqual({ exit: 4, cause: 'unverified' });
  expect(comment).toContain('### ⚠️ Partly done');
  expect(comment).toContain('`.npc/config.yml`');
  expect(comment).toContain('commands: {test: <your test command>}');
  expect(stage.platform.pulls(slug)).toHaveLength(1);
});
