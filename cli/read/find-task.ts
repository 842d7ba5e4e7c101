import { AppError } from '../../base/errors.ts';
import type { TaskRow } from '../../protocol/index.ts';

/** Ids that are offered in place of one that is not there. */
const OFFERED = 5;

/**
 * The id that a person means: a whole one, the end of one (`code` for `k.code`), or the key that ids begin with. Throws `AppError`
 * `not_found` with the nearest ids, `usage` when several tasks end so.
 */
export function findTask(name: string, rows: readonly TaskRow[]): string {
  const ids = rows.map(({ task_id }) => task_id);
  if (ids.includes(name) || ids.some((id) => id.startsWith(`${name}.`))) return name;
  const ending = ids.filter((id) => id.endsWith(`.${name.replace(/^\./, '')}`));
  const [only, ...others] = ending;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    throw new AppError('usage', `several tasks are called ${name}: ${list(ending)}; name one of them whole`);
  }
  if (ids.length === 0) throw new AppError('not_found', `there is no task ${name}: this log holds no tasks`);
  throw new AppError('not_found', `there is no task ${name}; the nearest are: ${list(nearest(name, ids))}`);
}

function list(ids: readonly string[]): string {
  return ids.length > OFFERED ? `${ids.slice(0, OFFERED).join(', ')} and ${ids.length - OFFERED} more` : ids.join(', ');
}

/** The ids that take the fewest changes to become, as a whole or by their last pieces. */
function nearest(name: string, ids: readonly string[]): string[] {
  const score = (id: string): number => {
    const pieces = id.split('.');
    const ends = pieces.map((_, index) => pieces.slice(index).join('.'));
    return Math.min(...ends.map((end) => changes(name.toLowerCase(), end.toLowerCase())));
  };
  const scored = ids.map((id) => ({ id, score: score(id) }));
  return scored
    .toSorted((a, b) => a.score - b.score)
    .slice(0, OFFERED)
    .map(({ id }) => id);
}

/** Characters to add, drop or replace to make one text the other. */
function changes(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
