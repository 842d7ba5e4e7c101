import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Ends a process and all that descend from it, as the end of a container does. */
export function killTree(child: ChildProcess): void {
  if (child.pid === undefined) return;
  for (const pid of [...descendants(child.pid).reverse(), child.pid]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** Every process below `root`, parents first; empty where there is no /proc. */
function descendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of list('/proc')) {
    const parent = parentOf(name);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  for (let open = [root]; open.length > 0; ) {
    open = open.flatMap((pid) => children.get(pid) ?? []);
    found.push(...open);
  }
  return found;
}

function parentOf(pid: string): number | undefined {
  if (!/^\d+$/.test(pid)) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
