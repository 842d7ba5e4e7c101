import { readFile } from 'node:fs/promises';

/**
 * When a process started, in clock ticks since boot (field 22 of /proc/PID/stat): together with the pid it names one process for
 * good. `""` where there is no such process, or that cannot be told.
 */
export async function startTimeOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // the program's name, field 2, may hold spaces and brackets; what follows its last bracket starts with field 3
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // a zombie has ended; whoever adopted it has yet to look
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}
