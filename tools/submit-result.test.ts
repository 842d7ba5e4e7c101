import { expect, test } from 'vitest';
import { z } from 'zod';
import { toolBench } from '../test/helpers/tool-context.ts';
import submit from './submit-result.ts';

test('R-TOOL-40: a result in the contract is taken as it is', async () => {
  const bench = await toolBench();
  const result = {
    status: 'success',
    summary: '完成',
    artifacts: [{ kind: 'command', title: 'empty input', text: 'sh check.sh' }],
    issues: [{ severity: 'blocking', message: 'wrong', path: 'a.ts', line: 3, evidence: 'x' }],
  };
  const outcome = await bench.use(submit, result);
  expect(outcome).toEqual({ ok: true, text: 'The result was taken.', filesTouched: [], submits: result });
});

test('R-TOOL-41: what only has another form is put right, and named', async () => {
  const bench = await toolBench();
  const { submits, text, ok } = await bench.use(submit, {
    status: 'Completed',
    summary: 'x'.repeat(2500),
    artifacts: '[{"kind":"plan","title":"flow","text":[{"id":"a"}]},{"path":"src/a.ts"},"plain"]',
    issues: { severity: 'critical', message: 'm', line: '12-15', path: null },
  });
  expect(ok).toBe(true);
  expect(submits).toMatchObject({
    status: 'success',
    artifacts: [
      { kind: 'plan', title: 'flow', text: '[{"id":"a"}]' },
      { kind: 'file', title: 'src/a.ts', path: 'src/a.ts' },
      { kind: 'text', title: 'text', text: 'plain' },
      { kind: 'report', title: 'summary', text: 'x'.repeat(2500) },
    ],
    issues: [{ severity: 'blocking', message: 'm', line: 12 }],
  });
  expect(submits?.summary.length).toBeLessThanOrEqual(2000);
  for (const part of [
    'status "Completed" was taken as success',
    'artifacts came as text',
    'issues was one object',
    'issues[0].line was read as 12',
  ]) {
    expect(text).toContain(part);
  }
});

test('R-TOOL-41: missing lists are empty ones', async () => {
  const bench = await toolBench();
  const { submits } = await bench.use(submit, { status: 'failed', summary: 's', artifacts: null, issues: '' });
  expect(submits).toEqual({ status: 'failed', summary: 's', artifacts: [], issues: [] });
});

test.each([
  ['no status', { summary: 's' }, 'status:'],
  ['a status that could mean anything', { status: 'partial', summary: 's' }, 'status:'],
  ['no summary', { status: 'success' }, 'summary:'],
  ['an issue without severity', { status: 'success', summary: 's', issues: [{ message: 'm' }] }, 'issues[0].severity:'],
  ['an issue in plain text', { status: 'success', summary: 's', issues: ['bad'] }, 'issues[0]:'],
  ['lists that are sentences', { status: 'success', summary: 's', issues: 'none' }, 'issues: must be a list'],
  [
    'a text that is too long',
    { status: 'success', summary: 's', artifacts: [{ kind: 'text', title: 't', text: 'x'.repeat(70_000) }] },
    'artifacts[0].text:',
  ],
])('R-TOOL-42: %s is not guessed at: the answer says what is wrong', async (_name, input, wrong) => {
  const bench = await toolBench();
  const outcome = await bench.use(submit, input);
  expect(outcome.ok).toBe(false);
  expect(outcome.submits).toBeUndefined();
  expect(outcome.text).toContain(`The result was not taken:\n${wrong}`);
  expect(outcome.text).toContain('status: "success"|"failed"');
});

test('R-TOOL-43: the model is shown the contract', () => {
  const shown = z.toJSONSchema(submit.input, { io: 'input' });
  expect(Object.keys(shown.properties ?? {})).toEqual(['status', 'summary', 'artifacts', 'issues']);
  expect(shown.required).toEqual(['status', 'summary']);
});
