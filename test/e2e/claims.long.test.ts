import { execa } from 'execa';
import { expect, test } from 'vitest';
import { coderAlone, priceTimes, setStage, shop, slug, storyOf, submit } from '../helpers/play.ts';

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

test('R-E2E-13: work that a coder leaves running is ended with its task, and the run is not green', async () => {
  // One go: work in the background in three ways, and a coder that insists on its result.
  const done = {
    name: 'submit-result',
    arguments: { status: 'success', summary: '改好了', artifacts: [], issues: [] },
  };
  const started = `${priceTimes(2)}; sleep 4321 & setsid sleep 4321 >/dev/null 2>&1 </dev/null & env -i setsid sleep 4322 >/dev/null 2>&1 </dev/null & echo started`;
  const go = { calls: [{ name: 'bash', arguments: { command: started } }, done, done, done] };
  const stage = await setStage({ files: alone, script: { coder: [go, go, go, go, go] } });
  const { exit, cause, comment, frames } = await storyOf(stage, stage.ask());
  expect({ exit, cause }).toEqual({ exit: 3, cause: 'left_running' });
  expect(comment).toMatch(/有进程被留在后台，已被终止，它们没有做完：\d+ sleep 4321.*; \d+ sleep 4322/);
  expect(frames.filter(({ type }) => type === 'task.result')).toHaveLength(5);
  const { stdout } = await execa('ps', ['-eo', 'args']);
  expect(stdout.split('\n').filter((line) => line.startsWith('sleep 432'))).toEqual([]);
  expect(stage.platform.pulls(slug)).toEqual([]);
});
