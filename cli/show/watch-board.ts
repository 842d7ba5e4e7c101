import type { AgentRow, Envelope, TaskRow } from '../../protocol/index.ts';
import { logLine } from './log-line.ts';
import { table } from './table.ts';
import { duration, taskTable } from './task-table.ts';
import { plural } from './units.ts';
import { clip } from './width.ts';

/** What a watcher knows of a hub at one moment. */
export interface Scene {
  /** Address or folder. */
  readonly place: string;
  readonly tasks: readonly TaskRow[];
  /** Absent where the hub does not tell without a token. */
  readonly agents?: readonly AgentRow[];
  /** Newest last. */
  readonly newest: readonly Envelope[];
  /** Messages a second, over the last seconds. */
  readonly rate: number;
  /** Why this is not the newest, where it is not. */
  readonly trouble?: string;
}

/** Lines that a scene takes at most beside tasks and agents: head, titles, spaces. */
const FRAME = 8;

/** A scene as lines that fit a terminal. */
export function boardLines(scene: Scene, screen: { now: number; columns: number; rows: number }): string[] {
  const { now, columns, rows } = screen;
  const room = Math.max(6, rows - FRAME);
  const newest = scene.newest.slice(-Math.max(3, Math.floor(room / 3)));
  const agents = (scene.agents ?? []).slice(0, Math.max(2, Math.floor(room / 4)));
  const tasks = mostTelling(scene.tasks, Math.max(2, room - newest.length - agents.length));
  const hidden = scene.tasks.length - tasks.length;
  const open = scene.tasks.filter(({ state }) => state === 'pending' || state === 'running').length;
  const head = [
    scene.place,
    scene.agents ? plural(scene.agents.length, 'agent') : 'its agents are told with its token only',
    `${plural(scene.tasks.length, 'task')}, ${open} open`,
    `${scene.rate.toFixed(1)} messages/s`,
    ...(scene.trouble === undefined ? [] : [scene.trouble]),
  ];
  const lines = [
    head.join('  '),
    ...(agents.length > 0 ? ['', ...agentTable(agents, now, columns)] : []),
    '',
    ...taskTable(tasks, { now, columns }),
    ...(hidden > 0 ? [`and ${hidden} more`] : []),
    '',
    ...newest.map((frame) => logLine(frame, columns)),
  ];
  return lines.map((line) => clip(line, columns));
}

function agentTable(agents: readonly AgentRow[], now: number, columns: number): string[] {
  const rows = agents.map(({ name, roles, connected, tasks }) => [
    name,
    roles.join(' ') || '-',
    duration(now - connected),
    tasks.join(' ') || '-',
  ]);
  return table(['AGENT', 'ROLES', 'FOR', 'TASKS'], rows, columns);
}

/** Those that are not over, then those that ended last. */
function mostTelling(tasks: readonly TaskRow[], count: number): TaskRow[] {
  const weight = ({ state }: TaskRow) => (state === 'running' ? 2 : state === 'pending' ? 1 : 0);
  return tasks.toSorted((a, b) => weight(b) - weight(a) || b.updated - a.updated).slice(0, count);
}
