import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findText } from './find-text.ts';
import { replaceRegion } from './replace-region.ts';

const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\t', '汉', '"', '“', '-', '…'), maxLength: 6 });
const lines = fc.array(line, { minLength: 1, maxLength: 12 });

test('R-TOOL-24: a piece of a text is found where it stands, or in several places, whatever its line ends', () => {
  fc.assert(
    fc.property(lines, fc.nat(), fc.nat(), fc.constantFrom('\n', '\r\n'), (all, from, length, end) => {
      const first = from % all.length;
      const part = all.slice(first, first + 1 + (length % all.length)).join('\n');
      fc.pre(part.trim() !== '');
      expect(findText(all.join(end), part).kind).not.toBe('none');
    }),
  );
});

test('R-TOOL-26: replacing a place by what the model read there changes no byte', () => {
  fc.assert(
    fc.property(lines, fc.nat(), fc.constantFrom('\n', '\r\n'), fc.constantFrom('', '  '), (all, from, end, blank) => {
      const text = all.map((one) => one + blank).join(end);
      const wanted = all.slice(from % all.length).join('\n');
      const found = findText(text, wanted);
      fc.pre(found.kind === 'one');
      const { start, end: stop, reindent } = found.place;
      const region = text.slice(start, stop);
      const next = replaceRegion({
        region,
        wanted,
        replacement: wanted,
        lineEnd: undefined,
        ...(reindent && { reindent }),
      });
      expect(next).toBe(region);
    }),
  );
});
