import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decoded, decode } from '../../hub/decode.ts';
import { defaultLimits } from '../../hub/options.ts';
import { rowOf } from '../../hub/row.ts';
import { seededRandom } from '../helpers/random.ts';
import { depthOf, repeatedKey } from './check-log.ts';
import { mutate } from './mutate.ts';
import { validFrame } from './valid-frames.ts';

const runs = { seed: 87, numRuns: 1000 };
const level = fc.constantFrom<0 | 1>(0, 1);

/** Frames as the fuzz test spoils them. */
const spoiled = fc
  .nat()
  .map((seed) => mutate(validFrame(seededRandom(seed), 'a', seed), seededRandom(`${seed}/spoil`)));

const key = fc.oneof(
  fc.constantFrom(
    'type',
    'from',
    'to',
    'task_id',
    'payload',
    'id',
    'attempt',
    'v',
    'ref',
    'meta',
    'seq',
    '__proto__',
    'more',
  ),
  fc.string(),
);

/** A key as JSON may spell it. */
const spelled = fc.tuple(key, fc.boolean(), fc.constantFrom('', ' ', '\n')).map(([text, escaped, space]) => {
  const first = text.charCodeAt(0);
  const spelling =
    escaped && first < 128
      ? `"\\u${first.toString(16).padStart(4, '0')}${JSON.stringify(text.slice(1)).slice(1)}`
      : JSON.stringify(text);
  return `${space}${spelling}${space}`;
});

const value = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    '"a"',
    '"b"',
    '1',
    '{"x":1,"x":2}',
    '{"__proto__":{}}',
    '{"\\u005f_proto__":1}',
    '"\\"type\\":\\"ping\\""',
  ),
);

/** Objects with keys that come twice, or are spelled in two ways, around a frame that is sound. */
const doubled = fc
  .tuple(fc.array(fc.tuple(spelled, value), { maxLength: 4 }), fc.array(fc.tuple(spelled, value), { maxLength: 4 }))
  .chain((around) => fc.constantFrom('route', 'task.input').map((type) => ({ type, around })))
  .map(({ type, around: [before, after] }) => {
    const pairs = (list: [string, string][]): string[] => list.map(([name, content]) => `${name}:${content}`);
    const payload = type === 'route' ? '{"x":1}' : '{"question":"1","question":"2"}';
    const sound = `"type":"${type}","from":"a","to":"b","task_id":"t","payload":${payload},"id":"i"`;
    return Buffer.from(`{${[...pairs(before), sound, ...pairs(after)].join(',')}}`);
  });

test('R-HUB-87: whatever bytes come, reading them throws nothing', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((list) => Buffer.from(list)),
    fc.json().map((text) => Buffer.from(text)),
    spoiled,
    doubled,
  );
  fc.assert(
    fc.property(bytes, fc.boolean(), level, (data, isBinary, own) => {
      const read = decode(data, isBinary, own, defaultLimits);
      expect('code' in read || 'frame' in read).toBe(true);
    }),
    runs,
  );
});

test('R-HUB-87: a frame that is taken is the frame that every other reader reads: no key twice, no prototype', () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof(doubled, spoiled), level, (data, own) => {
      const decoded = decode(data, false, own, defaultLimits);
      if ('code' in decoded) return;
      taken += 1;
      const sent = JSON.parse(data.toString()) as Record<string, unknown>;
      const row = rowOf('a', decoded as Decoded, {});
      const text = row.body.toString();
      expect(repeatedKey(text, depthOf(row.type))).toBeUndefined();
      const stored = JSON.parse(text) as Record<string, unknown>;
      const { type, from, to, task_id, id, payload, seq, prev, lsn, ts, redelivered } = stored;
      expect([type, from, to, task_id, id]).toEqual([sent.type, 'a', row.to, row.taskId, row.id]);
      expect(isDeepStrictEqual(payload, sent.payload ?? null)).toBe(true);
      expect([seq, prev, lsn, ts, redelivered]).toEqual(Array.from({ length: 5 }));
      expect(hasPrototype(stored)).toBe(false);
    }),
    runs,
  );
  expect(taken).toBeGreaterThan(runs.numRuns / 10);
});

function hasPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototype);
}
