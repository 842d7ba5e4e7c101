import type { DeadRow } from '../../hub/index.ts';
import { gist } from './log-line.ts';
import { table } from './table.ts';

/** Dead letters as people see them. */
export function deadTable(rows: readonly DeadRow[], options: { columns?: number }): string[] {
  if (rows.length === 0) return ['no dead letters'];
  const cells = rows.map(({ lsn, box, reason, died_at, frame }) => [
    String(lsn),
    box,
    new Date(died_at).toLocaleString('sv-SE'),
    reason,
    frame.from,
    frame.type,
    gist(frame).join('  '),
  ]);
  return table(['LSN', 'FOR', 'DIED', 'WHY', 'FROM', 'TYPE', 'TEXT'], cells, options.columns);
}
