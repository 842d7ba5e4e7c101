import { expect, test } from 'vitest';
import { bash, branchesOf, coderAlone, fix, honest, setStage, shop, slug, storyOf, submit } from '../helpers/play.ts';

const files = { ...shop, ...coderAlone };

test('R-E2E-25: what the judge finds missing twice is not delivered', async () => {
  const stage = await setStage({
    files,
    script: {
      coder: [...fix, bash("printf '价格\\n' > notes.md"), submit('补了说明')],
      judge: ['missing: 没有负数的测试', 'missing: 仍然没有负数的测试'],
    },
  });
  const { exit, cause, comment, events } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'unproven' });
  expect(events('work.returned')).toMatchObject([{ by: 'judge', issues: [{ message: '没有负数的测试' }] }]);
  expect(comment).toContain('无法证明请求已完成');
  expect(comment).toContain('仍然没有负数的测试');
  expect(stage.platform.pulls(slug)).toEqual([]);
  const { wip, others } = await branchesOf(stage);
  expect(others).toEqual([]);
  expect(comment).toContain(`\`${wip}\``);
});

test('R-E2E-26: a judge that cites evidence which is not there proves nothing', async () => {
  const stage = await setStage({
    files,
    script: {
      coder: fix,
      judge: ['complete [E1, E99]', 'complete [E98]'],
    },
  });
  const { exit, cause, comment, events } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'unproven' });
  expect(events('work.returned')).toEqual([]);
  expect(comment).toContain('复核引用了不存在的证据 E98');
  expect(stage.platform.pulls(slug)).toEqual([]);
});

test('R-E2E-27: a coder may meet an objection with words; whoever objected judges again', async () => {
  const objection = { severity: 'blocking', message: 'price(0) 没有测试', path: 'price.mjs', line: 1 };
  const stage = await setStage({
    script: {
      ...honest,
      coder: [...fix, submit('price(0) 等于 0，乘法不需要特例')],
      reviewer: [submit('有异议', { issues: [objection] }), submit('同意')],
    },
  });
  const { exit, frames } = await storyOf(stage, stage.ask());
  expect(exit).toBe(0);
  const second = frames.find((frame) => frame.type === 'task.assign' && frame.task_id.endsWith('.review.r1'));
  expect(JSON.stringify(second?.payload)).toContain('乘法不需要特例');
});

test('R-E2E-28: a question that only the user can answer ends the run with the question', async () => {
  const question = '价格应该乘以 2 还是乘以 3？';
  const stage = await setStage({
    script: { architect: [{ calls: [{ name: 'ask', arguments: { question } }] }], flash: ['UNKNOWN'] },
  });
  const { exit, cause, comment } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 4, cause: 'needs_input' });
  expect(comment).toContain('需要你补充信息');
  expect(comment).toContain(question);
  expect(comment).toContain('回答上面的问题并再次提及我');
  expect(stage.platform.pulls(slug)).toEqual([]);
});
