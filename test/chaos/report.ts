import { frameTypes } from './points.ts';
import type { ChaosReport } from './run-chaos.ts';

/** A run as people read it. */
export function describe({ hits, hubStarts, agentStarts, findings, faults }: ChaosReport): string {
  const rows = frameTypes.flatMap((type) => {
    const deeds = hits.get(type);
    if (deeds === undefined) return [];
    const total = [...deeds.values()].reduce((sum, count) => sum + count, 0);
    const list = [...deeds].sort((a, b) => b[1] - a[1]).map(([deed, count]) => `${deed} ${count}`);
    return [`  ${type.padEnd(15)}${String(total).padStart(4)}   ${list.join(', ')}`];
  });
  const { logged, accepted, delivered, waiting, dead, again, plainTold, plainDead, tasks, over, results, stale } =
    findings;
  return [
    'points hit, by frame type:',
    ...rows,
    `hub started ${hubStarts} times, processes of agents ${agentStarts} times`,
    `messages: ${logged} logged, ${accepted} accepted; in mailboxes ${delivered} delivered, ${waiting} waiting, ${dead} dead`,
    `          for the level-0 peer ${plainTold} told, ${plainDead} not told and dead`,
    `          ${again} handled again by the next client of a name, since the one before did not live to acknowledge them`,
    `tasks:    ${tasks}, of them ${over} over; ${results} results applied, ${stale} stale ones not`,
    ...(faults.length === 0
      ? ['no faults']
      : [`${faults.length} faults:`, ...faults.slice(0, 50).map((fault) => `  ${fault}`)]),
  ].join('\n');
}
