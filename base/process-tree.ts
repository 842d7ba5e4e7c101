import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** How processes are recognised whoever their parent is by now. Looked up in /proc; where there is none, nothing is found. */
export interface ProcessMark {
  /** A variable that the first of them was started with; what it starts inherits it. */
  readonly variable?: { readonly name: string; readonly value: string };
  /** A folder that holds their working folder. */
  readonly folder?: string;
}

/** The ids of all living processes with this mark, our own excepted. */
export async function findProcesses(mark: ProcessMark): Promise<number[]> {
  const ids = (await readdir('/proc').catch(() => [])).filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  );
  const marked = await Promise.all(ids.map((id) => isMarked(id, mark)));
  return ids.filter((_, index) => marked[index]).map(Number);
}

/**
 * Ends all processes with this mark with SIGKILL, and those that they start meanwhile. Returns how many there were; gives up after
 * two seconds, when one does not die.
 */
export async function endProcesses(mark: ProcessMark): Promise<number> {
  const ended = new Set<number>();
  const giveUp = performance.now() + 2_000;
  for (;;) {
    const alive = await findProcesses(mark);
    if (alive.length === 0 || performance.now() > giveUp) return ended.size;
    for (const id of alive) {
      ended.add(id);
      killQuietly(id, 'SIGKILL');
    }
    await delay(5);
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

async function isMarked(id: string, { variable, folder }: ProcessMark): Promise<boolean> {
  try {
    if (variable) {
      const environment = await readFile(`/proc/${id}/environ`, 'latin1');
      if (environment.split('\0').includes(`${variable.name}=${variable.value}`)) return !(await isZombie(id));
    }
    if (folder) {
      const cwd = (await readlink(`/proc/${id}/cwd`)).replace(/ \(deleted\)$/, '');
      if (cwd === folder || cwd.startsWith(`${folder}/`)) return !(await isZombie(id));
    }
  } catch {
    // it ended while we looked, or belongs to somebody else
  }
  return false;
}

async function isZombie(id: string): Promise<boolean> {
  const stat = await readFile(`/proc/${id}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}
