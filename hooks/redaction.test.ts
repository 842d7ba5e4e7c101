import { expect, test } from 'vitest';
import { createMasker } from '../base/mask.ts';
import { call, calls, playLoop, scriptedModel, submit, tool } from '../test/helpers/scripted-loop.ts';
import { redaction } from './redaction.ts';

const secret = ['hidden', 'value', '4711'].join('-');

test('R-LOOP-21: a secret in a tool result reaches neither the model nor the log', async () => {
  const leak = tool('leak', { run: () => ({ text: `token=${secret}`, ok: true, exit: 0 }) });
  const model = scriptedModel([calls(call('leak')), submit()]);
  const { results, events } = await playLoop(model, { tools: [leak], hooks: [redaction(createMasker([secret]).mask)] });
  expect(results[0]).toMatchObject({ content: 'token=***', ok: true });
  expect(JSON.stringify(events)).not.toContain(secret);
  expect(JSON.stringify(model.requests)).not.toContain(secret);
});

test('R-LOOP-21: a secret at the place where a long result is cut does not show in parts', async () => {
  const line = `${'x'.repeat(990)}${secret}${'x'.repeat(990)}`;
  const leak = tool('leak', { run: () => `${line}${line}` });
  const { results } = await playLoop(scriptedModel([calls(call('leak')), submit()]), {
    tools: [leak],
    hooks: [redaction(createMasker([secret]).mask)],
  });
  expect(results[0]?.content).not.toMatch(/hidden|4711/);
  expect(results[0]?.content).toContain('left out');
});
