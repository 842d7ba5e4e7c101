import fc from 'fast-check';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { lineDecoder } from './line-decoder.ts';

function decoded(bytes: Buffer, cuts: readonly number[]): string {
  const decoder = lineDecoder();
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let text = '';
  let start = 0;
  for (const place of [...places, bytes.length]) {
    text += decoder.push(bytes.subarray(start, place));
    start = place;
  }
  return text + decoder.end();
}

test('R-TOOL-2: wherever the pieces are cut, the text is the same', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '汉', '😀', '—', '\n', '\r\n', '\uFFFD'), { maxLength: 60 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (content, cuts) => {
      expect(decoded(Buffer.from(content), cuts)).toBe(content);
    }),
  );
});

test('R-TOOL-2: a long line without an end comes in pieces that hold whole characters', () => {
  const content = '汉字😀'.repeat(100_000);
  expect(
    decoded(
      Buffer.from(content),
      Array.from({ length: 30 }, (_, at) => at * 33_333),
    ),
  ).toBe(content);
});

test('R-TOOL-2: lines in UTF-8 and in GBK beside each other are each read as what they are', () => {
  const bytes = Buffer.concat([
    Buffer.from('第一行\n'),
    iconv.encode('第二行：你好\n', 'gb18030'),
    Buffer.from('third'),
  ]);
  expect(decoded(bytes, [1, 2, 3, 11, 12, 13])).toBe('第一行\n第二行：你好\nthird');
});
