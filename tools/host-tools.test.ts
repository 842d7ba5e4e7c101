import { expect, test } from 'vitest';
import { toolBench } from '../test/helpers/tool-context.ts';
import ask from './ask.ts';
import comment from './comment.ts';
import plan from './plan.ts';

test('R-TOOL-44: plan, comment and ask reach the host and answer the model', async () => {
  const bench = await toolBench();
  const items = [{ text: 'look', state: 'done' }, { text: 'mend', state: 'doing' }, { text: 'test' }];
  expect((await bench.use(plan, { items })).text).toBe('[x] look\n[>] mend\n[ ] test');
  expect(bench.plans).toEqual([[items[0], items[1], { text: 'test', state: 'open' }]]);
  expect((await bench.use(comment, { body: '正在看' })).text).toBe('handed over as c1');
  await bench.use(comment, { kind: 'inline', body: 'here', path: 'a.ts', line: 3 });
  expect(bench.comments).toEqual([
    { kind: 'note', body: '正在看' },
    { kind: 'inline', body: 'here', path: 'a.ts', line: 3 },
  ]);
  expect(await bench.use(comment, { kind: 'inline', body: 'where?' })).toMatchObject({ ok: false });
  expect((await bench.use(ask, { question: 'which?' })).text).toBe('answer to: which?');
});
