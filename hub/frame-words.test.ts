import { expect, test } from 'vitest';
import { type FrameType, frames } from '../protocol/index.ts';
import { decode } from './decode.ts';
import { defaultLimits } from './options.ts';

const five = { from: 'a', to: 'hub', task_id: '', payload: null };

function complaint(data: string | Buffer, isBinary = false): string {
  const limits = { ...defaultLimits, maxBytes: 2000, keys: 20, depth: 5 };
  const read = decode(Buffer.from(data), isBinary, 1, limits);
  return 'code' in read ? `${read.code}: ${read.message}` : 'taken';
}

function about(type: string, rest: object): string {
  return complaint(JSON.stringify({ type, ...five, ...rest }));
}

const assign = (payload: object) => about('task.assign', { payload });
const result = (payload: object) => about('task.result', { payload: { status: 'success', summary: '', ...payload } });

test.each([
  [complaint('{oops'), 'bad_json: "{oops" is not JSON; send one JSON object a frame'],
  [complaint(''), 'bad_json: nothing is not JSON; send one JSON object a frame'],
  [complaint('[1]'), 'bad_frame: "[1]" is not an object; send one JSON object a frame'],
  [complaint('{}', true), 'bad_frame: a binary frame came; send JSON as text'],
  [complaint('{}'), 'bad_frame: type is missing; add a text'],
  [complaint('{"type":5}'), 'bad_frame: type: 5 came; send a text'],
  [about('ping', { v: 2 }), 'unsupported_version: v: "2" came; this hub speaks v=1'],
  [
    about('launch', {}),
    'unknown_type: type: "launch" is none that this hub knows; what you make up goes into a route or a task.event',
  ],
  [complaint('{"type":"route","to":"b"}'), 'bad_frame: from is missing; add a text'],
  [about('route', { to: 5 }), 'bad_frame: to: 5 came; send a text'],
  [about('route', { to: 'x'.repeat(129) }), 'bad_frame: to: a text of 129 characters came; send a text of 128 or less'],
  [about('route', { task_id: 'a b' }), 'bad_frame: task_id: "a b" came; a task_id is 0-128 of A-Z a-z 0-9 . _ : -'],
  [about('route', { id: '' }), 'bad_frame: id: an empty text came; send a text that is not empty'],
  [about('route', { meta: [1] }), 'bad_frame: meta: a list came; send an object'],
  [about('task.accept', { attempt: 0 }), 'bad_frame: attempt: 0 came; send a number that is more than 0'],
  [about('task.accept', { attempt: 1.5 }), 'bad_frame: attempt: 1.5 came; send a whole number'],
  [about('task.accept', { attempt: '1' }), 'bad_frame: attempt: the text "1" came; send a number'],
  [assign({}), 'bad_frame: payload.goal is missing; add a text'],
  [assign({ goal: '' }), 'bad_frame: payload.goal: an empty text came; send a text that is not empty'],
  [assign({ goal: { a: 1 } }), 'bad_frame: payload.goal: an object came; send a text'],
  [assign({ goal: 'x', artifacts: 'none' }), 'bad_frame: payload.artifacts: the text "none" came; send a list'],
  [
    assign({ goal: 'x', options: { max_attempts: 11 } }),
    'bad_frame: payload.options.max_attempts: 11 came; send a number that is 10 or less',
  ],
  [about('task.assign', {}), 'bad_frame: payload: null came; send an object'],
  [result({ status: 'great' }), 'bad_frame: payload.status: "great" came; send "success" or "failed"'],
  [
    result({ summary: 'x'.repeat(1900) }),
    expect.stringMatching(/^too_large: a frame of \d+ bytes came; send 2000 or less, and hand large things on/),
  ],
  [
    result({ issues: [{ severity: 'note', message: 'm' }, { severity: 'note' }] }),
    'bad_frame: payload.issues.1.message is missing; add a text',
  ],
  [
    about('hello', { payload: { v: 1, roles: Array.from({ length: 33 }, () => 'a') } }),
    'bad_frame: payload.roles: a list of 33 came; send a list of 32 or less',
  ],
  [
    about('hello', { payload: { v: 1, roles: ['Coder'] } }),
    'bad_frame: payload.roles.0: "Coder" came; a role is 1-32 of a-z 0-9 _ -, starting with a letter',
  ],
  [about('ack', { payload: {} }), 'bad_frame: payload: an object came; send {"seq": a number} or {"ids": a list}'],
  [about('ack', { payload: { seq: -1 } }), 'bad_frame: payload.seq: -1 came; send a number that is 0 or more'],
  [about('ack', { payload: { ids: [1] } }), 'bad_frame: payload.ids.0: 1 came; send a text'],
  [about('task.event', { payload: { event: {} } }), 'bad_frame: payload.event.type is missing; add a text'],
  [about('task.event', { payload: {} }), 'bad_frame: payload.event is missing; add an object'],
  [
    about('route', { payload: [[[[[[]]]]]] }),
    'bad_frame: the frame is nested 7 deep; send 5 or less, or the inner part as a text',
  ],
  [
    about('route', Object.fromEntries(Array.from({ length: 30 }, (_, key) => [`k${key}`, 1]))),
    'bad_frame: the frame has 35 keys; send 20 or less, and the rest in payload',
  ],
  [complaint('{"type":"ping","__proto__":1}'), 'bad_frame: the key __proto__ came; leave it out or name it otherwise'],
])('R-HUB-110: %s', (told, words) => {
  expect(told).toEqual(words);
});

test('R-HUB-110: whatever is wrong in whatever frame, one short line names the field, what came, and what to send', () => {
  const wrong = [null, 7, -1, 1.5, '', 'x y', 'y'.repeat(500), true, [], [7], [{}], {}, { type: 7 }, { v: 'x' }];
  const keys = ['v', 'roles', 'title', 'resume', 'goal', 'artifacts', 'options', 'status', 'issues', 'seq', 'ids'];
  const more = ['event', 'text', 'question', 'reason', 'busy_until', 'pct', 'limit', 'after_lsn', 'prefix', 'tree'];
  let refused = 0;
  for (const type of Object.keys(frames) as FrameType[]) {
    for (const value of wrong) {
      const inPayload = [...keys, ...more].map((key) => ({ payload: { [key]: value } }));
      const onTop = ['from', 'to', 'task_id', 'id', 'ref', 'attempt', 'meta'].map((key) => ({ [key]: value }));
      for (const rest of [{ payload: value }, ...inPayload, ...onTop]) {
        const told = about(type, rest);
        if (told === 'taken' || told.startsWith('unsupported_version')) continue;
        refused += 1;
        expect(told).toMatch(/^bad_frame: [a-z_0-9.]+(: .+ came; .+| is missing; add .+)$/);
        expect(told).not.toMatch(/invalid|expected|received|too (small|big)|undefined|\[object/i);
        expect(told.length, told).toBeLessThan(220);
      }
    }
  }
  expect(refused).toBeGreaterThan(3000);
});
