import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decoded, decode } from './decode.ts';
import { defaultLimits } from './options.ts';
import { rowOf, type Stamp } from './row.ts';

function rowFrom(text: string, level: 0 | 1 = 1, stamp: Stamp = {}) {
  const decoded = decode(Buffer.from(text), false, level, defaultLimits);
  expect(decoded).toHaveProperty('frame');
  return rowOf('a', decoded as Decoded, stamp);
}

const frame = '{"type":"route","from":"a","to":"b","task_id":"","payload":{"x":1},"id":"i"}';

test('R-HUB-5: a frame that needs no change is stored byte for byte', () => {
  expect(rowFrom(frame)).toMatchObject({ body: Buffer.from(frame), id: 'i', from: 'a', to: 'b' });
});

test('R-HUB-5: escapes and spaces within the payload, and spaces between tokens, are kept', () => {
  for (const payload of ['"a\\nb \\u0061"', '{"a\\/b":"\\t"}', '{ "x" : 1 }']) {
    const text = frame.replace('{"x":1}', payload);
    expect(rowFrom(text).body.toString()).toBe(text);
  }
});

test.each(['\\ud800', 'a\\u0000b', 'two words', ''])(
  'R-HUB-5: what is about a task and is said to "%s" was said to the hub',
  (to) => {
    const event = `{"type":"task.event","from":"a","to":"${to}","task_id":"t","payload":{"event":{"type":"noted"}},"id":"i"}`;
    const row = rowFrom(event);
    expect([row.to, JSON.parse(row.body.toString()).to]).toEqual(['hub', 'hub']);
    expect(rowFrom(event, 1, { to: 'b', box: 'b' })).toMatchObject({ to: 'b', box: 'b' });
  },
);

test.each([
  ['a key twice', '{"type":"route","from":"evil","from":"a","to":"b","task_id":"","payload":1,"id":"i"}'],
  [
    'a key twice, once escaped',
    '{"type":"route","\\u0066rom":"evil","from":"a","to":"b","task_id":"","payload":1,"id":"i"}',
  ],
  ['a key of the hub', '{"type":"route","from":"a","to":"b","task_id":"","payload":1,"id":"i","lsn":5,"seq":7}'],
  ['space behind', `${frame}  `],
  ['a line break', frame.replace('"x":', '"x":\n')],
  ['a carriage return', frame.replace('"x":', '"x":\r')],
  ['a tab', frame.replace('"x":', '"x":\t')],
  ['an escape in its type', frame.replace('route', 'r\\u006fute')],
  ['an escape in its sender', frame.replace('"a"', '"\\u0061"')],
  ['an escape in its target', frame.replace('"b"', '"\\u0062"')],
  ['an escape in its id', frame.replace('"i"', '"\\u0069"')],
  ['another sender', '{"type":"route","from":"b","to":"b","task_id":"","payload":1,"id":"i"}'],
])('R-HUB-5: a frame with %s is written anew', (_title, text) => {
  const body = rowFrom(text).body.toString();
  expect(body).not.toBe(text);
  expect(body.match(/"from"/g)).toHaveLength(1);
  expect(JSON.parse(body)).toMatchObject({ type: 'route', from: 'a', to: 'b', task_id: '', id: 'i' });
  expect(JSON.parse(body)).not.toHaveProperty('lsn');
  expect(JSON.parse(body)).not.toHaveProperty('seq');
});

test('R-HUB-5: what the hub acts upon says to every reader what it said to the hub', () => {
  const payload = '{"status":"failed","summary":"x","status":"success","artifacts":[],"issues":[]}';
  const text = `{"type":"task.result","from":"a","to":"hub","task_id":"t","payload":${payload},"id":"i","attempt":1}`;
  expect(
    rowFrom(text)
      .body.toString()
      .match(/"status"/g),
  ).toHaveLength(1);
});

test('R-HUB-1: what a level-0 peer leaves out is filled in', () => {
  const body = rowFrom('{"type":"route","from":"a","to":"b","id":"i","payload":{"task_id":"x"}}', 0).body.toString();
  expect(JSON.parse(body)).toEqual({
    type: 'route',
    from: 'a',
    to: 'b',
    task_id: '',
    payload: { task_id: 'x' },
    id: 'i',
  });
});

test('R-HUB-5: what the hub changes is in the body and in the row', () => {
  const row = rowFrom(frame, 1, { type: 'task.answer', to: 'c', box: 'c', payload: { text: 'ü' }, attempt: 2 });
  expect(row).toMatchObject({ type: 'task.answer', to: 'c', box: 'c', attempt: 2 });
  expect(JSON.parse(row.body.toString())).toMatchObject({
    type: 'task.answer',
    to: 'c',
    payload: { text: 'ü' },
    attempt: 2,
    from: 'a',
  });
});

test('R-HUB-3: whatever JSON comes, reading it throws nothing and what is taken has the five fields', () => {
  const json = fc.json({ maxDepth: 4 });
  const almost = fc.record(
    {
      type: fc.constantFrom('route', 'ping', 'task.assign', 'hello', 'nope'),
      from: fc.string(),
      to: fc.constantFrom('b', 'hub', '*', 'role:coder', 'a b'),
      task_id: fc.constantFrom('', 't1', 'ü'),
      payload: fc.jsonValue(),
      attempt: fc.integer(),
      meta: fc.jsonValue(),
    },
    { requiredKeys: ['type'] },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        json,
        almost.map((value) => JSON.stringify(value)),
      ),
      fc.constantFrom(0, 1),
      (text, level) => {
        const decoded = decode(Buffer.from(text), false, level as 0 | 1, defaultLimits);
        if ('code' in decoded) return;
        const body = JSON.parse(rowOf('a', decoded, {}).body.toString());
        expect(body).toMatchObject({
          from: 'a',
          type: expect.any(String),
          to: expect.any(String),
          task_id: expect.any(String),
        });
        expect(body).toHaveProperty('payload');
      },
    ),
  );
});
