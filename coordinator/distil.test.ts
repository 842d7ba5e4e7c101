import { expect, test } from 'vitest';
import { distil } from './distil.ts';

const result = (summary: string, artifacts: { kind: 'text'; title: string; text: string }[] = []) => ({
  status: 'success' as const,
  summary,
  artifacts,
  issues: [],
});

test('R-RUN-2: a code block of the summary is kept whole as an artifact', () => {
  const code = '```ts\nexport function total(items: Item[]): number\n```';
  const distilled = distil(result(`The interface is\n${code}\nand no more.`));
  expect(distilled.summary).toBe('The interface is\n[code block 1]\nand no more.');
  expect(distilled.artifacts).toEqual([{ kind: 'text', title: 'code block 1 of the summary', text: code }]);
});

test('R-RUN-2: a long summary is cut between characters', () => {
  const distilled = distil(result('价'.repeat(900)));
  expect([...distilled.summary].filter((character) => character === '价')).toHaveLength(800);
  expect(distilled.summary).toMatch(/…$/);
});

test('R-RUN-2: artifacts share one room for text, and a cut one says so', () => {
  const distilled = distil(
    result('', [
      { kind: 'text', title: 'a', text: 'x'.repeat(30_000) },
      { kind: 'text', title: 'b', text: 'y'.repeat(30_000) },
    ]),
  );
  expect(distilled.artifacts[0]?.text).toHaveLength(30_000);
  expect(distilled.artifacts[1]?.text).toMatch(/^y{2768}\n\[cut\]$/);
});

test('R-RUN-2: issues are handed on word for word', () => {
  const issues = [{ severity: 'blocking' as const, message: '第 3 行少算了一次满减' }];
  expect(distil({ ...result(''), issues }).issues).toEqual(issues);
});
