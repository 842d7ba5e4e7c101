import { readFile } from 'node:fs/promises';

/**
 * When a process started, in clock ticks since boot (field 22 of /proc/PID/stat): together with the pid it names one process for
 * good. `""` where that cannot be read.
 */
export async function startTimeOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // the program's name, field 2, may hold spaces and brackets; what follows its last bracket starts with field 3
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
