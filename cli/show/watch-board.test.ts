import { expect, test } from 'vitest';
import type { AgentRow, Envelope, TaskRow } from '../../protocol/index.ts';
import { boardLines, type Scene } from './watch-board.ts';
import { WatchNews } from './watch-news.ts';
import { widthOf } from './width.ts';

const now = 1_000_000;

function task(id: string, state: TaskRow['state'], updated: number): TaskRow {
  return {
    ...{ task_id: id, owner: 'boss', target: 'role:coder', state, sub_state: state === 'done' ? 'done' : 'working' },
    ...{ attempt: 1, agent: '程序员', reason: null, parent: null, created: 0, updated, summary: '满减'.repeat(100) },
  };
}

const agent: AgentRow = { name: 'coder-1', level: 1, roles: ['coder'], connected: 0, last_seen: 0, tasks: ['t1'] };
const frame: Envelope = { type: 'route', from: 'a', to: 'b', task_id: '', payload: '修复'.repeat(100), ts: now };
const tasks = [...Array(40).keys()].map((n) => task(`t${n}`, n === 3 ? 'running' : 'done', n));
const scene: Scene = { place: 'ws://x', tasks, agents: [agent], newest: Array(50).fill(frame), rate: 12.34 };

test('R-CLI-26: what is watched fits the terminal, the open tasks first', () => {
  const lines = boardLines(scene, { now, columns: 70, rows: 24 });
  expect(lines.length).toBeLessThanOrEqual(24);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(70);
  expect(lines[0]).toMatch(/^ws:\/\/x {2}1 agent {2}40 tasks, 1 open {2}12\.3 messages\/s/);
  expect(lines.join('\n')).toMatch(/^t3 +running/m);
  expect(lines.join('\n')).toMatch(/^and \d+ more$/m);
});

test('R-CLI-26: without a terminal each change is told once, and the traffic now and then', () => {
  const news = new WatchNews();
  const small = { ...scene, tasks: [task('t1', 'running', 0)] };
  expect(news.lines(small, now)).toHaveLength(2);
  expect(news.lines(small, now + 1000)).toEqual([]);
  for (let count = 0; count < 7; count += 1) news.count();
  expect(news.lines({ ...small, agents: [] }, now + 10_000)).toEqual([
    expect.stringMatching(/coder-1 is gone$/),
    expect.stringMatching(/7 messages in 10 s$/),
  ]);
});
