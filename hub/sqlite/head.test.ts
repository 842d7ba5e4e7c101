import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanHead } from './head.ts';

const keys = ['type', 'from', 'to', 'task_id', 'id', 'attempt'];

test('R-HUB-41: a frame is known by its keys without parsing what it carries', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('\\', '"', '{', '}', 'x') }),
  );
  const frame = fc.record(
    {
      vendor: fc.jsonValue(),
      type: text,
      from: text,
      payload: fc.oneof(
        fc.jsonValue(),
        text.map((part) => part.repeat(40)),
      ),
      to: text,
      task_id: text,
      meta: fc.dictionary(text, fc.jsonValue()),
      id: text,
      attempt: fc.integer(),
    },
    { requiredKeys: ['type', 'from', 'to', 'task_id', 'id'], noNullPrototype: true },
  );
  fc.assert(
    fc.property(frame, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      const expected = Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));
      expect(scanHead(Buffer.from(JSON.stringify(value, null, space)))).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
