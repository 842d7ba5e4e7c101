import { expect, test } from 'vitest';
import { coderAlone, setStage, shop, storyOf } from '../helpers/play.ts';

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
