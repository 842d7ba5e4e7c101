import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** How processes are recognised whoever their parent is by now; one sign is enough. Looked up in /proc; where there is none, nothing is found. */
export interface ProcessMark {
  /** A variable that the first of them was started with; what it starts inherits it, also beyond its group and session. */
  readonly variable?: { readonly name: string; readonly value: string };
  /** A folder that holds their working folder. */
  readonly folder?: string;
  /** The leader of their process group. */
  readonly leader?: number;
  /** Sockets or pipes (`socket:[123]`) that they hold open; finds those that cleared their environment. */
  readonly holds?: readonly string[];
}

/** A living process. */
export interface LiveProcess {
  readonly pid: number;
  /** Its command line, cut at 120 characters. */
  readonly command: string;
}

/** All living processes with this mark and their descendants; we ourselves and those that we descend from are not among them. */
export async function findProcesses(mark: ProcessMark): Promise<LiveProcess[]> {
  const all = await table();
  const found = new Set<number>();
  await Promise.all(
    [...all.values()].map(async (entry) => {
      if (entry.pid === mark.leader || entry.group === mark.leader || (await isMarked(entry.pid, mark))) {
        found.add(entry.pid);
      }
    }),
  );
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of all.values()) if (found.has(parent)) found.add(pid);
  }
  for (let pid: number | undefined = process.pid; pid; pid = all.get(pid)?.parent) found.delete(pid);
  return Promise.all([...found].sort((a, b) => a - b).map(describe));
}

/**
 * Ends all processes with this mark, and those that they start meanwhile: with SIGTERM and, after `graceMs`, with SIGKILL; without a
 * grace with SIGKILL at once. Gives up after two seconds more and returns those that did not die.
 */
export async function endProcesses(mark: ProcessMark, graceMs = 0): Promise<LiveProcess[]> {
  const graceEnd = performance.now() + graceMs;
  const asked = new Set<number>();
  if (graceMs > 0 && mark.leader !== undefined) killQuietly(-mark.leader, 'SIGTERM');
  for (;;) {
    const alive = await findProcesses(mark);
    const late = performance.now() >= graceEnd;
    // Where there is no /proc the group is all that can be reached.
    if (late && mark.leader !== undefined) killQuietly(-mark.leader, 'SIGKILL');
    if (alive.length === 0 || performance.now() > graceEnd + 2_000) return alive;
    for (const { pid } of alive) {
      if (late) killQuietly(pid, 'SIGKILL');
      else if (!asked.has(pid)) {
        asked.add(pid);
        killQuietly(pid, 'SIGTERM');
        // A stopped process takes no other signal.
        killQuietly(pid, 'SIGCONT');
      }
    }
    await delay(10);
  }
}

/** Sends a signal to a process, or to a group when the id is negative; nothing happens when it is gone. */
export function killQuietly(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal);
  } catch {
    // it ended by itself, which is what was wanted
  }
}

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

async function table(): Promise<Map<number, Entry>> {
  const names = await readdir('/proc').catch(() => []);
  const entries = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readEntry));
  return new Map(entries.flatMap((entry) => (entry ? [[entry.pid, entry]] : [])));
}

async function readEntry(name: string): Promise<Entry | undefined> {
  const stat = await unlessGone(readFile(`/proc/${name}/stat`, 'latin1'));
  // After the name, which may hold blanks and brackets: state, parent, group.
  const [state, parent, group] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  if (state === undefined || 'ZX'.includes(state)) return undefined;
  return { pid: Number(name), parent: Number(parent), group: Number(group) };
}

async function isMarked(pid: number, { variable, folder, holds = [] }: ProcessMark): Promise<boolean> {
  if (variable) {
    const environment = await unlessGone(readFile(`/proc/${pid}/environ`, 'latin1'));
    const wanted = Buffer.from(`${variable.name}=${variable.value}`).toString('latin1');
    if (environment?.split('\0').includes(wanted)) return true;
  }
  if (folder) {
    const cwd = (await unlessGone(readlink(`/proc/${pid}/cwd`)))?.replace(/ \(deleted\)$/, '');
    if (cwd === folder || cwd?.startsWith(`${folder}/`)) return true;
  }
  if (holds.length === 0) return false;
  for (const descriptor of (await unlessGone(readdir(`/proc/${pid}/fd`))) ?? []) {
    const held = await unlessGone(readlink(`/proc/${pid}/fd/${descriptor}`));
    if (held !== undefined && holds.includes(held)) return true;
  }
  return false;
}

async function describe(pid: number): Promise<LiveProcess> {
  const line = ((await unlessGone(readFile(`/proc/${pid}/cmdline`, 'utf8'))) ?? '').replaceAll('\0', ' ').trim();
  const command = line || `[${((await unlessGone(readFile(`/proc/${pid}/comm`, 'utf8'))) ?? '?').trim()}]`;
  return { pid, command: command.length > 120 ? `${command.slice(0, 119)}…` : command };
}

/** A process may be gone, or another user's, at any moment while one looks at it. */
function unlessGone<T>(look: Promise<T>): Promise<T | undefined> {
  return look.catch(() => undefined);
}
