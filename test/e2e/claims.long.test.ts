import { expect, test } from 'vitest';
import { coderAlone, setStage, shop, storyOf, submit } from '../helpers/play.ts';

const alone = { ...shop, ...coderAlone };

test('R-E2E-11: an error of the model service in place of the work is named by its kind', async () => {
  const error = 'Error code: 429 - Too Many Requests';
  const stage = await setStage({ script: { architect: [error, error] } });
  const { exit, cause, comment } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'rate_limited' });
  expect(comment).toContain('过几分钟再次提及我');

  const unauthorized = {
    text: '',
    fault: { type: 'error_text', message: '401 Unauthorized', times: 'always' },
  } as const;
  const second = await setStage({ files: alone, script: { coder: [unauthorized, unauthorized] } });
  expect(await storyOf(second, second.ask())).toMatchObject({ exit: 3, cause: 'auth' });
});

test('R-E2E-11: an error of the model service that the architect gives as its answer is no answer', async () => {
  const error = 'Error: upstream request failed with status 503 (Service Unavailable)';
  const stage = await setStage({
    script: { architect: [submit('', { artifacts: [{ kind: 'text', title: 'answer', text: error }] })] },
  });
  const { exit, cause, comment } = await storyOf(stage, stage.ask('Why is the price not doubled?'));
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'upstream_error' });
  expect(comment).toContain('### ❌ Not done');
  expect(comment).toContain('an error message of its service, not an answer');
});

test('R-E2E-12: a promise to report later is no end', async () => {
  const promise = '测试仍在后台运行，完成后我会汇报结果。';
  const stage = await setStage({ files: alone, script: { coder: [promise, promise] } });
  const { exit, cause, comment } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'left_running' });
  expect(comment).toContain(`结束之后不会再有人继续：“${promise}”`);
});
