import { expect, test } from 'vitest';
import type { StoredMessage, TaskRecord } from '../../hub/storage.ts';
import { checkMessages } from './check-messages.ts';
import { checkTasks } from './check-tasks.ts';
import type { Entry, GotFrame, Life } from './record.ts';
import type { Remains } from './remains.ts';

const session: Entry = { e: 'session', session: 's', at: 0 };

function route(lsn: number, id: string, extra: Partial<StoredMessage> = {}): StoredMessage {
  const body = Buffer.from(JSON.stringify({ payload: { text: id } }));
  return { lsn, ts: 0, type: 'route', from: 'a', to: 'b', box: 'b', taskId: '', id, attempt: null, body, ...extra };
}

function sent(id: string): Entry[] {
  const frame = { type: 'route', id, to: 'b', task_id: '', payload: { text: id } } as const;
  return [
    { e: 'sends', frame },
    { e: 'accepted', id },
  ];
}

function got(lsn: number, id: string): Entry {
  const frame: GotFrame = { type: 'route', id, from: 'a', task_id: '', seq: lsn, lsn };
  return { e: 'got', frame };
}

function life(name: string, entries: readonly Entry[], client = 1): Life {
  return { name, life: 1, client, entries: [session, ...entries] };
}

function remains(
  parts: { messages: StoredMessage[]; a?: Life[]; b?: Life[]; acked?: number } & Partial<Remains>,
): Remains {
  const { a = [life('a', [])], b = [life('b', [])], acked = 99, ...rest } = parts;
  return {
    tasks: [],
    sessions: new Map([['b', { name: 'b', session: 's', tokenHash: '', acked }]]),
    dead: [],
    lives: new Map([
      ['a', a],
      ['b', b],
    ]),
    plain: { name: 'plain', told: [] },
    ...rest,
  };
}

function faultsOf(state: Remains): string[] {
  const faults: string[] = [];
  checkMessages(state, faults);
  checkTasks(state, faults);
  return faults;
}

const two = [route(1, 'x'), route(2, 'y')];
const sound = {
  messages: two,
  a: [life('a', [...sent('x'), ...sent('y')])],
  b: [life('b', [got(1, 'x'), got(2, 'y')])],
};

test('R-HUB-86: the check of the chaos test finds nothing where all is well', () => {
  expect(faultsOf(remains(sound))).toEqual([]);
  expect(faultsOf(remains({ ...sound, b: [life('b', [got(1, 'x')])], acked: 1 }))).toEqual([]);
  expect(
    faultsOf(remains({ ...sound, b: [life('b', [got(1, 'x'), got(2, 'y')]), life('b', [got(2, 'y')], 2)] })),
  ).toEqual([]);
});

test.each<[string, Parameters<typeof remains>[0], RegExp]>([
  [
    'accepted and not logged',
    { ...sound, messages: [route(1, 'x')], b: [life('b', [got(1, 'x')])] },
    /accepted and is not in the log/,
  ],
  [
    'logged with another payload',
    { ...sound, messages: [route(1, 'x', { body: Buffer.from('{}') }), route(2, 'y')] },
    /logged as something else/,
  ],
  [
    'logged for somebody else',
    { ...sound, messages: [route(1, 'x', { to: 'c' }), route(2, 'y')] },
    /logged as something else/,
  ],
  [
    'logged of another attempt',
    { ...sound, messages: [route(1, 'x', { attempt: 2 }), route(2, 'y')] },
    /logged as something else/,
  ],
  [
    'logged as an answer to something else',
    {
      ...sound,
      messages: [route(1, 'x', { body: Buffer.from('{"ref":"q","payload":{"text":"x"}}') }), route(2, 'y')],
    },
    /logged as something else/,
  ],
  ['logged twice', { ...sound, messages: [...two, route(3, 'x', { box: null })] }, /in the log twice/],
  ['acknowledged and never handled', { ...sound, b: [life('b', [got(1, 'x')])] }, /lost: route y/],
  [
    'handled twice by one client',
    { ...sound, b: [life('b', [got(1, 'x'), got(2, 'y'), got(2, 'y')])] },
    /got route a y twice/,
  ],
  ['handled out of order', { ...sound, b: [life('b', [got(2, 'y'), got(1, 'x')])] }, /got 1 after 2/],
  [
    'refused for no good reason',
    { ...sound, a: [life('a', [...sent('x'), { e: 'refused', id: 'y', code: 'internal' }])] },
    /refused with internal/,
  ],
  [
    'neither told to level 0 nor dead',
    { ...sound, messages: [...two, route(3, 'z', { box: 'plain' })] },
    /neither told to plain/,
  ],
])('R-HUB-86: the check of the chaos test finds what is %s', (_title, state, fault) => {
  expect(faultsOf(remains(state)).join('\n')).toMatch(fault);
});

const record: TaskRecord = {
  taskId: 't',
  owner: 'a',
  target: 'role:worker',
  subState: 'done',
  attempt: 2,
  losses: 1,
  agent: 'b',
  session: null,
  reason: null,
  parent: null,
  priority: 0,
  maxAttempts: 3,
  silenceMs: 0,
  attemptMs: 0,
  assignId: 'assign',
  resultId: 'r2',
  deadline: null,
  summary: null,
  created: 0,
  updated: 0,
};

function frame(lsn: number, type: string, extra: Partial<StoredMessage> = {}): StoredMessage {
  return route(lsn, `${type} ${lsn}`, { type, taskId: 't', box: null, from: 'b', ...extra });
}

function status(lsn: number, sub_state: string, attempt: number, agent: string | null): StoredMessage {
  const body = Buffer.from(JSON.stringify({ payload: { sub_state, attempt, agent } }));
  return frame(lsn, 'task.status', { from: 'hub', body });
}

const story = [
  frame(1, 'task.assign', { from: 'a' }),
  status(2, 'offered', 1, 'c'),
  status(3, 'working', 1, 'c'),
  status(4, 'queued', 1, null),
  status(5, 'offered', 2, 'b'),
  status(6, 'working', 2, 'b'),
  frame(7, 'task.result', { id: 'r2', attempt: 2 }),
];

test('R-HUB-86: the check of the chaos test takes a task that was lost once and then done for sound', () => {
  expect(faultsOf(remains({ messages: story, tasks: [record] }))).toEqual([]);
  const late = frame(8, 'stale_result', { from: 'c', attempt: 1 });
  expect(faultsOf(remains({ messages: [...story, late], tasks: [record] }))).toEqual([]);
});

test.each<[string, StoredMessage[], Partial<TaskRecord>, RegExp]>([
  [
    'a stale result that was applied',
    [...story.slice(0, 6), frame(7, 'task.result', { id: 'r1', attempt: 1, from: 'c' })],
    { resultId: 'r1' },
    /at work was b, attempt 2/,
  ],
  ['two results', [...story, frame(8, 'task.result', { id: 'r3', attempt: 2 })], {}, /two results/],
  [
    'a good result that was put aside',
    [...story.slice(0, 6), frame(7, 'stale_result', { attempt: 2 })],
    { subState: 'cancelled', resultId: null },
    /good and is logged as stale/,
  ],
  [
    'an attempt that two agents took',
    [
      ...story.slice(0, 6),
      frame(7, 'task.accept', { attempt: 2 }),
      frame(8, 'task.accept', { attempt: 2, from: 'c' }),
      frame(9, 'task.result', { id: 'r2', attempt: 2 }),
    ],
    {},
    /was taken by b and by c/,
  ],
  [
    'a task that nobody works on',
    story.slice(0, 4),
    { subState: 'queued', resultId: null, agent: null },
    /is left queued/,
  ],
  ['a table that says something else than the log', story, { resultId: 'other' }, /ended by result other/],
])('R-HUB-86: the check of the chaos test finds %s', (_title, messages, change, fault) => {
  expect(faultsOf(remains({ messages, tasks: [{ ...record, ...change }] })).join('\n')).toMatch(fault);
});
