import type { LogFilter } from './filter.ts';
import type { FrameRange, Source } from './source.ts';

/**
 * The piece of a log that holds everything a filter lets through. Where it asks for one task by its whole id, or for a run by its
 * key, the log need not be looked through for it.
 */
export async function narrow(source: Source, { tasks = [], since }: LogFilter): Promise<FrameRange> {
  const range = since === undefined ? {} : { since };
  const [wanted, another] = tasks;
  const isSearched = (await source.last()) === undefined;
  if (isSearched || wanted === undefined || another !== undefined) return range;
  const ids = (await source.tasks()).map(({ task_id }) => task_id);
  const isKnown = ids.some((id) => id === wanted || id.startsWith(`${wanted}.`));
  return isKnown && !ids.some((id) => id.includes(`.${wanted}`)) ? { ...range, tree: wanted } : range;
}
