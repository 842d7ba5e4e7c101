import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ThinkSplitter } from './think-splitter.ts';

function split(pieces: readonly string[]): { text: string; thinking: string } {
  const splitter = new ThinkSplitter();
  const all = [...pieces.map((piece) => splitter.push(piece)), splitter.end()];
  return { text: all.map((one) => one.text).join(''), thinking: all.map((one) => one.thinking).join('') };
}

test('R-LLM-1: a leading think block is thinking, one later in the text is text', () => {
  expect(split(['\n<think>hm</think>\n\nyes'])).toEqual({ text: 'yes', thinking: 'hm' });
  expect(split(['[THINK]a[/THINK]b'])).toEqual({ text: 'b', thinking: 'a' });
  expect(split(['say <think>x</think>'])).toEqual({ text: 'say <think>x</think>', thinking: '' });
  expect(split(['<think>never closed </thi'])).toEqual({ text: '', thinking: 'never closed </thi' });
  expect(split(['<thi'])).toEqual({ text: '<thi', thinking: '' });
});

test('R-LLM-1: where the deltas are cut makes no difference', () => {
  const texts = [
    '<think>a</think',
    '<thinking>a</think>b</thinking>c',
    '  <b>x</b>',
    '<|START_THINKING|>a<|END_THINKING|>',
  ];
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.array(fc.nat(40)), (text, cuts) => {
      const borders = [0, ...[...new Set(cuts)].filter((at) => at < text.length).sort((a, b) => a - b), text.length];
      const pieces = borders.slice(1).map((to, at) => text.slice(borders[at], to));
      expect(split(pieces)).toEqual(split([text]));
    }),
  );
});
