import type { Children } from '../children.ts';
import type { QueriesHandlers, Query } from './queries-process.ts';

/** Times of one look-up in a large log, ms. */
export interface QueryFigures {
  readonly query: Query;
  readonly messages: number;
  /** Messages it found, at the median. */
  readonly found: number;
  readonly p50: number;
  readonly p95: number;
}

/** Fills a log and looks things up in it. */
export async function benchQueries(
  children: Children,
  { messages, rounds }: { messages: number; rounds: number },
  say: (line: string) => void,
): Promise<QueryFigures[]> {
  const folder = await children.folder();
  const process = await children.start<QueriesHandlers>('hub/queries-process', { folder }, { core: 0 });
  say(`queries: writing ${messages} messages`);
  const { tasks, seconds } = await process.ask('fill', messages);
  say(`queries: written in ${seconds.toFixed(0)} s, ${tasks} tasks`);
  const figures: QueryFigures[] = [];
  for (const query of await process.ask('queries')) {
    const times = await process.ask('time', { query, rounds });
    figures.push({ query, messages, ...times });
    say(`queries: ${query}: p50 ${times.p50.toFixed(2)} ms`);
  }
  await process.end();
  await children.removeFolder(folder);
  return figures;
}
