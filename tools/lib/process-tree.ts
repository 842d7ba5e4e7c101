import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { sleep } from '../../base/time.ts';

/** A process as /proc shows it. */
export interface LiveProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Its command line, cut at 120 characters. */
  readonly command: string;
}

/** Signs by which a process is known as one of ours; one is enough. */
export interface ProcessSigns {
  /** `NAME=value` in its environment, which also a child that left the group and the session inherits. */
  readonly marker: string;
  /** Leader of a process group: its members and all its descendants count. */
  readonly leader?: number;
  /** Sockets or pipes (`socket:[123]`) that it holds open; finds those that cleared their environment. */
  readonly holds?: readonly string[];
}

/**
 * Lists the living processes with one of the signs, this process and its ancestors left out. Linux only: elsewhere the
 * list is empty, and what is left is to signal the group.
 */
export function findProcesses(signs: ProcessSigns): LiveProcess[] {
  const all = listProcesses();
  const spared = lineage(process.pid, all);
  const found = new Set<number>();
  for (const one of all.values()) {
    if (one.pid === signs.leader || one.group === signs.leader || bears(one.pid, signs)) found.add(one.pid);
  }
  // Descendants of what was found, over as many generations as there are.
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const one of all.values()) if (found.has(one.parent)) found.add(one.pid);
  }
  return [...all.values()].filter((one) => found.has(one.pid) && !spared.has(one.pid)).map(withCommand);
}

/**
 * Ends every process with one of the signs: SIGTERM, and SIGKILL for what is alive after `graceMs`, looked for again
 * until nothing new turns up. Returns those that outlived even that.
 */
export async function endProcesses(signs: ProcessSigns, graceMs = 1000): Promise<LiveProcess[]> {
  const until = performance.now() + graceMs;
  const asked = new Set<number>();
  if (signs.leader !== undefined) signal(-signs.leader, 'SIGTERM');
  for (;;) {
    const alive = findProcesses(signs);
    if (alive.length === 0) break;
    for (const { pid } of alive) {
      if (asked.has(pid)) continue;
      asked.add(pid);
      signal(pid, 'SIGTERM');
      signal(pid, 'SIGCONT');
    }
    if (performance.now() >= until) break;
    await sleep(25);
  }
  if (signs.leader !== undefined) signal(-signs.leader, 'SIGKILL');
  for (let round = 0; round < 40; round += 1) {
    const alive = findProcesses(signs);
    if (alive.length === 0) return [];
    for (const { pid } of alive) signal(pid, 'SIGKILL');
    await sleep(25);
  }
  return findProcesses(signs);
}

/** What a process holds at one of its file descriptors, as in `socket:[123]`; undefined when it cannot be told. */
export function heldAt(pid: number, descriptor: number): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`));
}

function listProcesses(): Map<number, LiveProcess> {
  const all = new Map<number, LiveProcess>();
  for (const entry of attempt(() => readdirSync('/proc')) ?? []) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    // After the name, which may hold blanks and brackets: state, parent, group.
    const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
    const [state, parent, group] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    if (state === undefined || 'ZX'.includes(state)) continue;
    all.set(pid, { pid, parent: Number(parent), group: Number(group), command: '' });
  }
  return all;
}

function lineage(pid: number, all: Map<number, LiveProcess>): Set<number> {
  const line = new Set<number>();
  for (let at: number | undefined = pid; at && !line.has(at); at = all.get(at)?.parent) line.add(at);
  return line;
}

function bears(pid: number, { marker, holds = [] }: ProcessSigns): boolean {
  const environment = attempt(() => readFileSync(`/proc/${pid}/environ`, 'utf8'));
  if (environment?.split('\0').includes(marker)) return true;
  if (holds.length === 0) return false;
  const descriptors = attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return descriptors.some((descriptor) => {
    const held = heldAt(pid, Number(descriptor));
    return held !== undefined && holds.includes(held);
  });
}

function withCommand(one: LiveProcess): LiveProcess {
  const line = attempt(() => readFileSync(`/proc/${one.pid}/cmdline`, 'utf8')) ?? '';
  const name = attempt(() => readFileSync(`/proc/${one.pid}/comm`, 'utf8')) ?? '?';
  const command = line.replaceAll('\0', ' ').trim() || `[${name.trim()}]`;
  return { ...one, command: command.length > 120 ? `${command.slice(0, 119)}…` : command };
}

function signal(pid: number, name: NodeJS.Signals): void {
  attempt(() => process.kill(pid, name));
}

/** The result, or undefined: a process may be gone, or another user's, at any moment while one looks at it. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
