import type { Children } from '../children.ts';
import { launcherOptions } from '../launcher.ts';
import type { QueriesHandlers, Query } from './queries-process.ts';
import type { RelayHandlers } from './relay-process.ts';

/** Times of one look-up in a large log, ms. */
export interface QueryFigures {
  readonly query: Query;
  readonly messages: number;
  /** Messages it found, at the median. */
  readonly found: number;
  readonly p50: number;
  readonly p95: number;
}

/** Asked of the storage, as the hub does, and of a hub on that log, as people do. */
const ofStorage = ['story of one task', 'tail of 100', 'page of a mailbox'] as const;
const ofHub = [
  'story of one task, from the file',
  'story of one task, by HTTP',
  'timeline of one task, by HTTP',
  'tail of 100, by HTTP',
] as const;

/** Fills a log and looks things up in it. */
export async function benchQueries(
  children: Children,
  { messages, rounds }: { messages: number; rounds: number },
  say: (line: string) => void,
): Promise<QueryFigures[]> {
  const folder = await children.folder();
  const reader = await children.start<QueriesHandlers>('hub/queries-process', { folder }, { core: 1 });
  say(`queries: writing ${messages} messages`);
  const { tasks, seconds } = await reader.ask('fill', messages);
  say(`queries: written in ${seconds.toFixed(0)} s, ${tasks} tasks`);
  const figures: QueryFigures[] = [];
  const time = async (query: Query) => {
    const times = await reader.ask('time', { query, rounds });
    figures.push({ query, messages, ...times });
    say(`queries: ${query}: p50 ${times.p50.toFixed(2)} ms`);
  };
  for (const query of ofStorage) await time(query);
  await reader.ask('release');
  const relay = await children.start<RelayHandlers>(
    'hub/relay-process',
    { variant: 'level-1', folder },
    { core: 0, nodeOptions: launcherOptions() },
  );
  await reader.ask('useHub', await relay.ask('port'));
  for (const query of ofHub) await time(query);
  await reader.end();
  await relay.end();
  await children.removeFolder(folder);
  return figures;
}
