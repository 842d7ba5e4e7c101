import { expect, test } from 'vitest';
import type { TaskRow } from '../../protocol/index.ts';
import { logLine } from './log-line.ts';
import { storyLines } from './story.ts';
import { duration, taskTable } from './task-table.ts';
import { clip, widthOf } from './width.ts';

const frame = {
  type: 'task.assign',
  from: 'coordinator',
  to: 'coder-1',
  task_id: 'k.code',
  payload: { goal: '修复满减' },
};
const row: TaskRow = {
  task_id: 'k.code',
  owner: 'coordinator',
  target: 'role:coder',
  state: 'running',
  sub_state: 'working',
  attempt: 1,
  agent: 'coder-1',
  reason: null,
  parent: null,
  created: 1000,
  updated: 2000,
  summary: null,
};

test('R-CLI-8: a frame is one line with who, whom, what, which task and its gist', () => {
  expect(logLine(frame)).toBe('--:--:--.---  coordinator → coder-1  task.assign  k.code  修复满减');
});

test('R-CLI-8: a turn is told by its role, its calls and its text', () => {
  const content = { role: 'assistant', content: 'I read it', calls: [{ name: 'read' }, { name: 'grep' }] };
  const event = { type: 'turn.added', turn: 3, content };
  expect(logLine({ ...frame, type: 'task.event', payload: { event } })).toContain(
    'turn.added  assistant calls read, grep: I read it',
  );
});

test('R-CLI-8: what an agent wrote cannot steer the terminal or break the line', () => {
  const line = logLine({ ...frame, payload: { goal: 'a\u001b[2Jb\nc\u0007\u009bd' } });
  expect(line).toContain('a[2Jb cd');
});

test('R-CLI-9: a Chinese character takes two columns, and a text is cut by columns', () => {
  expect(widthOf('满减ok')).toBe(6);
  expect(clip('满减优惠算错了', 7)).toBe('满减优…');
  expect(clip('short', 7)).toBe('short');
});

test('R-CLI-9: the columns of the task table stand below each other', () => {
  const rows = [
    { ...row, summary: 'done', state: 'done', sub_state: 'done' },
    { ...row, task_id: 'k.任务', agent: '程序员' },
  ] as const;
  const lines = taskTable(rows, { now: 62_000 });
  const column = widthOf((lines[0] ?? '').slice(0, (lines[0] ?? '').indexOf('AGENT')));
  expect(lines).toHaveLength(3);
  expect(lines[1]).toContain('1s');
  expect(lines[2]).toContain('1m 01s');
  for (const [line, agent] of [
    [lines[1], 'coder-1'],
    [lines[2], '程序员'],
  ] as const) {
    expect(widthOf((line ?? '').slice(0, (line ?? '').indexOf(agent)))).toBe(column);
  }
});

test.each([
  [41_000, '41s'],
  [185_000, '3m 05s'],
  [7_800_000, '2h 10m'],
])('R-CLI-9: %i ms are told as %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test('R-CLI-6: the report tells the delivered branch and commit apart from the commits of the work in progress', () => {
  const commit = { type: 'task.committed' as const, left_out: [] };
  const story = {
    ...{ runKey: '0123456789abcdef', request: 'r', started: 0, ended: 1000, starts: 1, exit: 0 },
    ...{ gates: [], returns: [], usage: [], budget: {} },
    commits: [
      { ...commit, sha: 'aaaaaaaaaaaa', node: 'design', files: [] },
      { ...commit, sha: 'bbbbbbbbbbbb', node: 'code', files: ['a.js', 'b.js'] },
    ],
    delivered: { type: 'work.delivered' as const, branch: 'npc/goal-1', sha: 'cccccccccccc' },
  };
  const lines = storyLines(story, [], { now: 0 });
  expect(lines).toContain('delivered: cccccccccccc on npc/goal-1');
  expect(lines.slice(-2)).toEqual([
    'COMMIT OF THE WORK IN PROGRESS  TASK  FILES',
    'bbbbbbbb                        code  a.js b.js',
  ]);
});
