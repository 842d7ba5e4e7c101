import { z } from 'zod';
import { AgentName } from '../../protocol/index.ts';
import { logged } from '../inspect.ts';
import { refuse } from '../refusal.ts';
import type { DeadLetter } from '../storage.ts';
import type { HubView } from '../view.ts';
import { sendJson, sendText } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { flag, position, whole } from './query.ts';

/** Dead letters read at once, and about how many bytes of them one answer carries. */
const PAGE = 100;
const ANSWER_BYTES = 1024 * 1024;

/** Messages that were never handed over, with the reason. */
export const deadEndpoint = endpoint({
  method: 'GET',
  path: '/v1/dead',
  scope: 'watch',
  help: 'dead letters: ?box=NAME, ?after_lsn=, ?limit= (100)',
  query: z.strictObject({
    box: AgentName.optional(),
    after_lsn: position.default(0),
    limit: whole(1, 1000).default(100),
  }),
  answer: async ({ query, view, response }) => {
    const found: string[] = [];
    let room = ANSWER_BYTES;
    let next: number | undefined;
    for await (const letter of letters(view, query.after_lsn, query.box)) {
      if (found.length === query.limit || room <= 0) break;
      room -= letter.message.body.length;
      next = letter.lsn;
      found.push(rowOf(letter));
    }
    const full = found.length === query.limit || room <= 0;
    const end = full ? `,"next":${next}` : '';
    return sendText(response, `{"dead":[${found.join(',')}]${end}}\n`, 'application/json');
  },
});

/** Takes one dead letter off the list. */
export const dropOneEndpoint = endpoint({
  method: 'DELETE',
  path: '/v1/dead/:id',
  scope: 'admin',
  help: 'drops one dead letter by its position; the log keeps the message',
  query: z.strictObject({}),
  answer: async ({ id, view, response }) => {
    const lsn = position.safeParse(id);
    const [letter] = lsn.success && lsn.data > 0 ? await view.storage.deadLetters(lsn.data - 1, 1) : [];
    if (letter === undefined || letter.lsn !== lsn.data)
      return refuse(404, 'not_found', `there is no dead letter ${id}`);
    await view.dropDead([letter.lsn]);
    return sendJson(response, { dropped: 1 });
  },
});

/** Takes all dead letters off the list, or those of one mailbox. */
export const dropEndpoint = endpoint({
  method: 'DELETE',
  path: '/v1/dead',
  scope: 'admin',
  help: 'drops all dead letters (?all=1), or those of one mailbox (?box=NAME)',
  query: z.strictObject({ all: flag.default(false), box: AgentName.optional() }),
  answer: async ({ query, view, response }) => {
    const { all, box } = query;
    if (all === (box !== undefined)) return refuse(400, 'bad_query', 'all: either all=1 or box=NAME is needed');
    // Those that die meanwhile were not meant.
    const end = view.position();
    const lsns: number[] = [];
    for await (const letter of letters(view, 0, box)) if (letter.lsn <= end) lsns.push(letter.lsn);
    for (let from = 0; from < lsns.length; from += PAGE) await view.dropDead(lsns.slice(from, from + PAGE));
    return sendJson(response, { dropped: lsns.length });
  },
});

/** A dead letter as JSON; its frame, which may be large, is not read for that. */
function rowOf({ lsn, box, reason, diedAt, message }: DeadLetter): string {
  return `${JSON.stringify({ lsn, box, reason, died_at: diedAt }).slice(0, -1)},"frame":${logged(message)}}`;
}

async function* letters({ storage }: HubView, afterLsn: number, box: string | undefined): AsyncGenerator<DeadLetter> {
  let after = afterLsn;
  for (;;) {
    const page = await storage.deadLetters(after, PAGE);
    for (const letter of page) if (box === undefined || letter.box === box) yield letter;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.lsn;
  }
}
