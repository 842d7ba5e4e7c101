import type { LogFilter } from './filter.ts';
import type { FrameRange, Source } from './source.ts';

/** Pieces of a log that are read side by side; where it were more, it is looked through as a whole. */
const MOST = 16;

/** Characters of a type or a name that a hub can be asked for. */
const LONGEST = 64;

/**
 * The pieces of a log that together hold everything a filter lets through, as few messages beside it as can be found without
 * looking at them: those of a type, of an agent, of a task that is asked for by its whole id, or of a run by its key.
 */
export async function narrow(source: Source, { tasks = [], types = [], agents = [], offered, since }: LogFilter) {
  const isSearched = (await source.last()) === undefined;
  const whole: FrameRange = since === undefined ? {} : { since };
  if (isSearched) return [whole];
  const tree = await treeOf(source, tasks);
  const piece: FrameRange = tree === undefined ? whole : { ...whole, tree };
  let ranges: readonly FrameRange[] = [piece];
  for (const [key, values] of [['type', types] as const, ['agent', agents] as const]) {
    const isTooMuch = ranges.length * values.length > MOST || values.some(({ length }) => length > LONGEST);
    if (values.length === 0 || isTooMuch) continue;
    ranges = [...new Set(values)].flatMap((value) => ranges.map((range) => ({ ...range, [key]: value })));
  }
  const isOfferWanted = types.length === 0 || types.includes('task.assign');
  if (!offered?.size || !isOfferWanted || !ranges.some(({ agent }) => agent !== undefined)) return ranges;
  return [...ranges, { ...piece, type: 'task.assign' }];
}

async function treeOf(source: Source, [wanted, another]: readonly string[]): Promise<string | undefined> {
  if (wanted === undefined || another !== undefined) return undefined;
  const ids = (await source.tasks()).map(({ task_id }) => task_id);
  const isKnown = ids.some((id) => id === wanted || id.startsWith(`${wanted}.`));
  return isKnown && !ids.some((id) => id.includes(`.${wanted}`)) ? wanted : undefined;
}
