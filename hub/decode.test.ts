import fc from 'fast-check';
import { expect, test } from 'vitest';
import { frames } from '../protocol/index.ts';
import { decode } from './decode.ts';
import { scanJson } from './json-scan.ts';
import { defaultLimits } from './options.ts';
import { plainAck, plainRoute } from './plain-frames.ts';

/** Values on both sides of every rule of the envelope. */
const edge = {
  type: fc.constantFrom('route', 'ping', '', 5, null),
  from: fc.constantFrom('a', '', 'x'.repeat(64), 'x'.repeat(65), 1, null),
  to: fc.constantFrom('b', '*', 'x'.repeat(128), 'x'.repeat(129), {}),
  task_id: fc.constantFrom('', 't.1:a-b_c', 'x'.repeat(128), 'x'.repeat(129), 'a b', 'ü', 'a\n', 0),
  payload: fc.jsonValue(),
  id: fc.oneof(fc.constantFrom('', 'i', 'x'.repeat(128), 'x'.repeat(129), 7, null), fc.string()),
  ref: fc.constantFrom('r', 1),
  v: fc.constantFrom(1, 2),
  lsn: fc.constantFrom(1, -1),
  meta: fc.constantFrom({}, 1),
  toString: fc.constant('x'),
};

test('R-HUB-51: a plain route is taken without the schema exactly when the schema takes it, and read the same', () => {
  let plain = 0;
  const some = fc.record(edge, { noNullPrototype: true, requiredKeys: ['type'] });
  const { from, to, task_id, payload, id, v } = edge;
  const most = fc.record(
    { type: fc.constant('route'), from, to, task_id, payload, id, v },
    { noNullPrototype: true, requiredKeys: ['type', 'from', 'to', 'task_id', 'payload'] },
  );
  fc.assert(
    fc.property(fc.oneof(some, most), (value) => {
      const parsed = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
      const fast = plainRoute(parsed, Object.keys(parsed).length);
      const slow = frames.route.safeParse(parsed);
      if (fast === undefined) {
        const known = ['type', 'from', 'to', 'task_id', 'payload', 'id', 'v'];
        const bare =
          known.slice(0, 5).every((key) => key in parsed) && Object.keys(parsed).every((key) => known.includes(key));
        expect(bare && slow.success).toBe(false);
        return;
      }
      plain += 1;
      expect(slow.data).toEqual(fast);
    }),
    { numRuns: 2000 },
  );
  expect(plain).toBeGreaterThan(20);
});

test('R-HUB-51: a plain ack is taken only when the schema takes it, and read the same', () => {
  let plain = 0;
  const seq = fc.oneof(fc.nat(), fc.constantFrom(-1, 1.5, '1', null, 2 ** 53));
  const payload = fc.oneof(fc.record({ seq }), fc.record({ seq, ids: fc.constant([]) }), fc.jsonValue());
  const { from, to, id, v } = edge;
  const five = { type: fc.constant('ack'), from, to, task_id: fc.constantFrom('', 't'), payload };
  const frame = fc.oneof(
    fc.record(five, { noNullPrototype: true }),
    fc.record(
      { ...five, id, v, lsn: edge.lsn },
      { noNullPrototype: true, requiredKeys: ['type', 'from', 'to', 'task_id', 'payload'] },
    ),
  );
  fc.assert(
    fc.property(frame, (value) => {
      const parsed = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
      const fast = plainAck(parsed, Object.keys(parsed).length);
      if (fast === undefined) return;
      plain += 1;
      expect(frames.ack.safeParse(parsed).data).toEqual(fast);
    }),
    { numRuns: 2000 },
  );
  expect(plain).toBeGreaterThan(10);
});

test('R-HUB-51: what is found out by looking at a text is what parsing it finds', () => {
  const key = fc.oneof(fc.constantFrom('__proto__', '__proto_', 'payload', 'a"b', 'a\\', '\\"', 'a:', ''), fc.string());
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.string(),
      fc.constantFrom('"', '\\', '\\"', '{', '":', '__proto__'),
      fc.integer(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => new Map(entries as [string, unknown][])),
    ),
  })).value;
  fc.assert(
    fc.property(json, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
      const text = write(value, space);
      expect(JSON.parse(text)).toBeDefined();
      const scan = scanJson(text);
      expect(scan.depth).toBe(depthOf(value));
      expect(scan.keys).toBe(value instanceof Map ? value.size : 0);
      const keys = keysOf(value);
      if (keys.includes('__proto__')) expect(scan.suspicious).toBe(true);
      if (!keys.some((one) => one === '__proto__' || /[\\"\p{Cc}]/u.test(one))) expect(scan.suspicious).toBe(false);
      const own = value instanceof Map ? [...value.keys()] : [];
      const entries = value instanceof Map ? [...value] : Array.isArray(value) ? [...value.entries()] : [];
      const values = entries.flatMap(([name, one]) => (name === 'payload' ? [] : [one]));
      const texts = [...own, ...values.filter((one) => typeof one === 'string')];
      expect(scan.escaped).toBe(texts.some((one) => JSON.stringify(one) !== `"${one}"`));
    }),
  );
});

test.each([
  [
    'a prototype behind an escape',
    '{"type":"route","from":"a","to":"b","task_id":"","payload":{"\\u005f_proto__":{}}}',
  ],
  ['a prototype in a list', '{"type":"route","from":"a","to":"b","task_id":"","payload":[[{"__proto__" : 1}]]}'],
  ['one level too many', `{"type":"ping","payload":${'['.repeat(64)}${']'.repeat(64)}}`],
])('R-HUB-51: %s is refused', (_title, text) => {
  expect(decode(Buffer.from(text), false, 0, defaultLimits)).toMatchObject({ code: 'bad_frame' });
});

test.each([
  [
    'an escape in a key below',
    '{"type":"route","from":"a","to":"b","task_id":"","payload":{"\\u0061":{"id":1,"type":2}},"id":"i"}',
  ],
  [
    'as many levels as may be',
    `{"type":"ping","payload":${'['.repeat(63)}${']'.repeat(63)},"from":"a","to":"b","task_id":""}`,
  ],
  [
    'texts that look like keys',
    '{"type":"route","from":"a","to":"b","task_id":"","payload":"\\",\\"from\\":\\"evil","id":"i"}',
  ],
])('R-HUB-51: %s is fine, and stays as it came', (_title, text) => {
  const data = Buffer.from(text);
  expect(decode(data, false, 1, defaultLimits)).toMatchObject({ bytes: data });
});

/** JSON of Maps (so that `__proto__` is a key like others), with `space` wherever it may be. */
function write(value: unknown, space: string): string {
  if (value instanceof Map) {
    const entries = [...value].map(
      ([key, item]) => `${space}${JSON.stringify(key)}${space}:${space}${write(item, space)}${space}`,
    );
    return `{${entries.join(',')}}`;
  }
  if (Array.isArray(value)) return `[${value.map((item) => `${space}${write(item, space)}${space}`).join(',')}]`;
  return JSON.stringify(value);
}

function itemsOf(value: unknown): unknown[] {
  return value instanceof Map ? [...value.values()] : Array.isArray(value) ? value : [];
}

function depthOf(value: unknown): number {
  if (!(value instanceof Map) && !Array.isArray(value)) return 0;
  return 1 + Math.max(0, ...itemsOf(value).map(depthOf));
}

function keysOf(value: unknown): string[] {
  return [...(value instanceof Map ? (value.keys() as Iterable<string>) : []), ...itemsOf(value).flatMap(keysOf)];
}
