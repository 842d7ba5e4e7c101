import { expect, test } from 'vitest';
import { cutLines } from './line-cutter.ts';

function cut(pieces: readonly string[], longest?: number): string[] {
  const lines: string[] = [];
  const cutter = cutLines((line) => lines.push(line), longest);
  for (const piece of pieces) cutter.push(piece);
  cutter.end();
  return lines;
}

test('R-LLM-67: text comes by whole lines, however it was cut, without empty ones', () => {
  const whole = 'first  \r\nsecond\n\n   \n第三行\nlast';
  const lines = ['first', 'second', '第三行', 'last'];
  expect(cut([whole])).toEqual(lines);
  expect(cut([...whole])).toEqual(lines);
});

test('R-LLM-67: a line is handed on before the next one begins to come', () => {
  const lines: string[] = [];
  const cutter = cutLines((line) => lines.push(line));
  cutter.push('one\ntw');
  expect(lines).toEqual(['one']);
});

test('R-LLM-67: a very long line comes in pieces, cut behind words, sentences, and through no character', () => {
  expect(cut(['aa bbb cccc ddddd'], 12)).toEqual(['aa bbb cccc', 'ddddd']);
  expect(cut(['先看测试。再改代码，然后再跑一次'], 8)).toEqual(['先看测试。', '再改代码，', '然后再跑一次']);
  expect(cut(['😀😀😀😀'], 3)).toEqual(['😀', '😀', '😀', '😀']);
  expect(cut(['x'.repeat(2500)], 1000).map((line) => line.length)).toEqual([1000, 1000, 500]);
});
