import type { FuzzReport } from './run-fuzz.ts';

/** A run as people read it. */
export function describe({ sent, connections, requests, log, handles, memory, faults, ...counts }: FuzzReport): string {
  const list = (all: Readonly<Record<string, number>>): string =>
    Object.entries(all)
      .sort((a, b) => b[1] - a[1])
      .map(([key, count]) => `${key} ${count}`)
      .join(', ');
  return [
    `${sent} messages over ${connections} connections, ${requests} HTTP requests`,
    `errors:  ${list(counts.errors)}`,
    `closes:  ${list(counts.closes)}`,
    `answers: ${list(counts.answers)}`,
    `log:     ${log.own} rows of the senders, ${log.expected} frames taken; besides ${log.ofHub} of the hub, ${log.stale} stale results`,
    `handles: ${handles.before.length} before, ${handles.after.length} after; memory ${memory.join(', ')} MiB`,
    ...(faults.length === 0
      ? ['no faults']
      : [`${faults.length} faults:`, ...faults.slice(0, 30).map((fault) => `  ${fault}`)]),
  ].join('\n');
}
