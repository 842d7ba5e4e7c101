import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { logged } from '../inspect.ts';
import { refuse } from '../refusal.ts';
import type { LogFilter, Storage, StoredMessage } from '../storage.ts';
import { endpoint } from './endpoint.ts';
import { flag, moment, position, taskId, whole } from './query.ts';

/** Messages read from the log at once, and bytes: as much as one slow client costs. */
const PAGE = 200;
const PAGE_BYTES = 256 * 1024;

/** Logs that are being read at once. Nobody is cut off for being slow, so that there must be an end to how many are. */
const READERS = 64;

const query = z.strictObject({
  after_lsn: position.default(0),
  before_lsn: position.optional(),
  task_id: taskId.optional(),
  tree: flag.default(false),
  type: z.string().min(1).max(64).optional(),
  agent: z.string().min(1).max(64).optional(),
  since: moment.optional(),
  limit: whole(1, Number.MAX_SAFE_INTEGER).optional(),
  last: whole(1, 1000).optional(),
});

type Query = z.infer<typeof query>;

/** The log as it is now, one frame a line. Nothing is read ahead of the client: it takes as long as it likes. */
export function logEndpoint() {
  let readers = 0;
  return endpoint({
    method: 'GET',
    path: '/v1/log',
    scope: 'watch',
    help: 'the log as JSON Lines: ?after_lsn=, ?since=, ?task_id= (&tree=1), ?type=, ?agent=, ?limit=, ?last= (&before_lsn=)',
    query,
    answer: async ({ query, view, response, headOnly, signal }) => {
      if (query.before_lsn !== undefined && query.last === undefined) {
        return refuse(400, 'bad_query', 'before_lsn: it belongs to last');
      }
      if (readers >= READERS) return refuse(503, 'rate_limited', 'too many read the log now', { retryAfter: 5 });
      readers += 1;
      try {
        const { storage } = view;
        const end = view.position();
        response.writeHead(200, {
          'content-type': 'application/x-ndjson; charset=utf-8',
          'hub-epoch': storage.epoch,
          'hub-lsn': end,
        });
        if (!headOnly) await write(response, pages(storage, query, end), signal);
        if (!signal.aborted) response.end();
      } finally {
        readers -= 1;
      }
      return undefined;
    },
  });
}

/** Writes a page at a time, the next one when the client has taken what came before. */
async function write(
  response: ServerResponse,
  read: AsyncIterable<readonly StoredMessage[]>,
  signal: AbortSignal,
): Promise<void> {
  for await (const messages of read) {
    if (signal.aborted) return;
    if (messages.length === 0) continue;
    const lines = messages.map((message) => `${logged(message)}\n`).join('');
    if (!response.write(lines)) await once(response, 'drain', { signal }).catch(() => undefined);
  }
}

async function* pages(storage: Pick<Storage, 'tail' | 'latest' | 'positionAt'>, query: Query, upto: number) {
  const { limit = Number.POSITIVE_INFINITY, last, since, before_lsn } = query;
  const filter = filterOf(query);
  const before = since === undefined ? 0 : await storage.positionAt(since - 1);
  let after = Math.max(query.after_lsn, before);
  let end = upto;
  if (last !== undefined) {
    const newest = await beginningOf(storage, filter, last, Math.min(before_lsn ?? end + 1, end + 1));
    if (newest.all !== undefined) {
      yield newest.all.filter(({ lsn }) => lsn > after).slice(0, limit);
      return;
    }
    [after, end] = [Math.max(after, newest.first - 1), newest.last];
  }
  let left = limit;
  let next: number | undefined = after;
  while (next !== undefined && next < end && left > 0) {
    const page = await storage.tail(filter, next, Math.min(PAGE, left), PAGE_BYTES);
    const messages = page.messages.filter(({ lsn }) => lsn <= end);
    left -= messages.length;
    yield messages;
    next = page.next;
    // Pages without a match follow each other without a pause of their own.
    await nextTurn();
  }
}

type Newest = { readonly all: readonly StoredMessage[] } | { readonly all?: undefined; first: number; last: number };

/**
 * The newest messages before a position, when they are few bytes; else where they begin and end, found page by page from the
 * end, so that they can be read from there without having them all at once.
 */
async function beginningOf(
  storage: Pick<Storage, 'latest'>,
  filter: LogFilter,
  count: number,
  before: number,
): Promise<Newest> {
  const all = await storage.latest(filter, count, before, PAGE_BYTES);
  const last = all.at(-1)?.lsn;
  if (last === undefined || all.length === count || sizeOf(all) < PAGE_BYTES) return { all };
  let [first, left] = [all[0]?.lsn ?? last, count - all.length];
  while (left > 0) {
    const page = await storage.latest(filter, left, first, PAGE_BYTES);
    const [earliest] = page;
    if (earliest === undefined) break;
    first = earliest.lsn;
    left -= page.length;
    await nextTurn();
  }
  return { first, last };
}

function sizeOf(messages: readonly StoredMessage[]): number {
  return messages.reduce((sum, { body }) => sum + body.length, 0);
}

function filterOf({ task_id: taskId, tree, type, agent }: Query): LogFilter {
  return {
    ...(taskId !== undefined && { taskId, tree }),
    ...(type !== undefined && { type }),
    ...(agent !== undefined && { agent }),
  };
}
