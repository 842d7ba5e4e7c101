import { expect, test } from 'vitest';
import { cell, fenced, fitComment } from './fit.ts';

const note = '(cut)';

test('R-RUN-6: a text that fits stays as it is', () => {
  expect(fitComment('short', note, 100)).toBe('short');
});

test('R-RUN-6: a cut inside a fence closes the fence first', () => {
  const text = `before\n\`\`\`\n${'line\n'.repeat(100)}\`\`\`\nafter`;
  const fitted = fitComment(text, note, 200);
  expect(fitted.length).toBeLessThanOrEqual(200);
  expect(fitted.match(/```/g)).toHaveLength(2);
  expect(fitted.endsWith(note)).toBe(true);
});

test('R-RUN-6: a cut inside a folded block closes it', () => {
  const text = `<details><summary>x</summary>\n\n${'line\n'.repeat(100)}\n</details>`;
  expect(fitComment(text, note, 200)).toMatch(/<\/details>\n\n\(cut\)$/);
});

test('R-RUN-6: a fence is longer than any run of backticks inside', () => {
  expect(fenced('a ```` b')).toBe('`````\na ```` b\n`````');
});

test('R-RUN-6: a table cell is one line without bars', () => {
  expect(cell('a | b\nc')).toBe('a \\| b c');
  expect(cell('x'.repeat(300), 10)).toHaveLength(10);
});
