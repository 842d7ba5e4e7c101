import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type Attempt, AttemptFold, tellingTypes } from '../attempts.ts';
import { pauses } from '../pauses.ts';
import { shortReason } from '../reason.ts';
import type { StoredMessage } from '../storage.ts';
import { sendText } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { position, whole } from './query.ts';
import { noSuchTask, taskView } from './tasks.ts';

/** Messages read from the log at once, and bytes. */
const PAGE = 500;
const PAGE_BYTES = 256 * 1024;

/** About the bytes of attempts in one answer, and of frames: what is beyond is left out, and the answer says so. */
const PART_BYTES = 1024 * 1024;

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
    const frames: { lsn: number; text: string }[] = [];
    const pause = pauses();
    let more = false;
    let room = PART_BYTES;
    let next: number | undefined = 0;
    while (next !== undefined && !signal.aborted) {
      const page = await view.storage.tail({ taskId: id }, next, PAGE, PAGE_BYTES);
      for (const message of page.messages) {
        fold.take({ ...message, payload: tellingTypes.has(message.type) ? payloadOf(message) : undefined });
        await pause();
        if (message.lsn <= query.after_lsn) continue;
        more ||= frames.length >= query.limit || room <= 0;
        if (more) continue;
        const text = JSON.stringify(short(message));
        frames.push({ lsn: message.lsn, text });
        room -= text.length;
      }
      next = page.next;
      await nextTurn();
    }
    fold.finish(record.subState, record.updated, record.reason);
    const attempts = await newest(fold.attempts, pause);
    const leftOut = fold.attempts.length - attempts.length;
    const parts = [
      `"task":${JSON.stringify(taskView(record, view))}`,
      `"attempts":[${attempts.join(',')}]`,
      ...(leftOut > 0 ? [`"attempts_left_out":${leftOut}`] : []),
      `"frames":[${frames.map(({ text }) => text).join(',')}]`,
      ...(more ? [`"next":${frames.at(-1)?.lsn ?? query.after_lsn}`] : []),
    ];
    return sendText(response, `{${parts.join(',')}}\n`, 'application/json');
  },
});

/** The last attempts for which there is room, as JSON, in their order. */
async function newest(attempts: readonly Attempt[], pause: () => Promise<void> | undefined): Promise<string[]> {
  const texts: string[] = [];
  let room = PART_BYTES;
  for (const attempt of attempts.toReversed()) {
    if (room <= 0) break;
    const text = JSON.stringify(withLengths(attempt));
    texts.push(text);
    room -= text.length;
    await pause();
  }
  return texts.reverse();
}

function withLengths(attempt: Attempt) {
  const { offered, accepted, ended, reason } = attempt;
  return {
    ...attempt,
    reason: reason === null ? null : shortReason(reason),
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
