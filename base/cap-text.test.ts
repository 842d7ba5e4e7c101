import fc from 'fast-check';
import { expect, test } from 'vitest';
import { capLine, capText } from './cap-text.ts';

const bounds = { maxBytes: 4000, maxLines: 50, maxLine: 200 };
/** Whether no half of a character is in it. */
const isWhole = (text: string) => Buffer.from(text).toString() === text;
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n');

test('R-LOOP-13: a text within bounds is not touched', () => {
  for (const text of ['', '\n', 'a\r\nb\n', lines(50)]) expect(capText(text, bounds)).toEqual({ text, cut: false });
});

test('R-LOOP-13: too many lines keep head and more of the tail, and say what is missing and how to get it', () => {
  const { text, cut } = capText(lines(1000), bounds, 'read with `offset`');
  const kept = text.split('\n');
  expect(cut).toBe(true);
  expect(kept.slice(0, 20)).toEqual(lines(20).split('\n'));
  expect(kept[20]).toMatch(/^\[… 950 of 1000 lines \(\d+ bytes\) left out; to see them: read with `offset` …\]$/);
  expect(kept.at(-1)).toBe('line 999');
  expect(kept).toHaveLength(51);
});

test('R-LOOP-13: too many bytes are cut between lines', () => {
  const { text } = capText(Array.from({ length: 40 }, (_, at) => `${at}`.padEnd(190, '.')).join('\n'), bounds);
  expect(Buffer.byteLength(text)).toBeLessThan(4200);
  for (const line of text.split('\n')) expect(line.length === 190 || line.startsWith('[… ')).toBe(true);
});

test('R-LOOP-13: one line of 5 MB keeps both ends', () => {
  const { text, cut } = capText(`begin${'x'.repeat(5_000_000)}end`, bounds);
  expect(cut).toBe(true);
  expect(text).toMatch(/^beginx+\[… 4999808 characters of this line left out …\]x+end$/);
});

test('R-LOOP-13: no character is cut in two', () => {
  for (let shift = 0; shift < 4; shift += 1) {
    const line = capLine(`${'a'.repeat(shift)}${'😀'.repeat(300)}`, 21);
    expect(isWhole(line)).toBe(true);
    expect(line).toContain('left out');
  }
});

test('R-LOOP-13: whatever comes in, what goes out is bounded and well-formed, and nothing is made up', () => {
  const text = fc
    .array(fc.string({ unit: 'grapheme', maxLength: 400 }), { maxLength: 120 })
    .map((list) => list.join('\n'));
  fc.assert(
    fc.property(text, (text) => {
      const capped = capText(text, bounds);
      expect(isWhole(capped.text)).toBe(true);
      expect(Buffer.byteLength(capped.text)).toBeLessThan(4000 + 100 * 51);
      expect(capped.text.split('\n').length).toBeLessThanOrEqual(51);
      expect(capped.cut).toBe(capped.text !== text);
    }),
  );
});
