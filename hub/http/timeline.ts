import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type Attempt, AttemptFold, tellingTypes } from '../attempts.ts';
import type { StoredMessage } from '../storage.ts';
import { sendJson } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { position, whole } from './query.ts';
import { noSuchTask, taskView } from './tasks.ts';

/** Messages read from the log at once, and bytes. */
const PAGE = 500;
const PAGE_BYTES = 1024 * 1024;

/** How one task came to where it is: its attempts, and its frames in short. */
export const timelineEndpoint = endpoint({
  method: 'GET',
  path: '/v1/tasks/:id/timeline',
  scope: 'watch',
  help: 'its attempts with waits, and its frames in short: ?after_lsn=, ?limit= frames (1000)',
  query: z.strictObject({ after_lsn: position.default(0), limit: whole(1, 10_000).default(1000) }),
  answer: async ({ id, query, view, response, signal }) => {
    const record = await view.storage.task(id);
    if (record === undefined) return noSuchTask(id);
    const fold = new AttemptFold();
    const frames: ReturnType<typeof short>[] = [];
    let more = false;
    let next: number | undefined = 0;
    while (next !== undefined && !signal.aborted) {
      const page = await view.storage.tail({ taskId: id }, next, PAGE, PAGE_BYTES);
      for (const message of page.messages) {
        fold.take({ ...message, payload: tellingTypes.has(message.type) ? payloadOf(message) : undefined });
        if (message.lsn <= query.after_lsn) continue;
        if (frames.length < query.limit) frames.push(short(message));
        else more = true;
      }
      next = page.next;
      await nextTurn();
    }
    fold.finish(record.subState, record.updated, record.reason);
    return sendJson(response, {
      task: taskView(record, view),
      attempts: fold.attempts.map(withLengths),
      frames,
      ...(more && { next: frames.at(-1)?.lsn }),
    });
  },
});

function withLengths(attempt: Attempt) {
  const { offered, accepted, ended } = attempt;
  return {
    ...attempt,
    accept_ms: accepted === null ? null : accepted - offered,
    work_ms: accepted === null || ended === null ? null : ended - accepted,
  };
}

function short({ lsn, ts, type, from, to, attempt, body }: StoredMessage) {
  return { lsn, ts, type, from, to, attempt, bytes: body.length };
}

function payloadOf({ body }: StoredMessage): unknown {
  return (JSON.parse(body.toString()) as { payload?: unknown }).payload;
}
