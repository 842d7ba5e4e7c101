import type { Log } from '../base/log.ts';
import type { Forge } from './forge.ts';
import type { Journal } from './journal.ts';
import { threadCommandOf } from './thread-command.ts';
import type { Trigger } from './trigger.ts';

interface MentionWatchOptions {
  readonly forge: Forge;
  readonly journal: Journal;
  /** Only comments later than this one are read. */
  readonly after: string;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
  readonly log: Log;
  /** Somebody wrote `@Agent stop`. */
  readonly onStop: (author: string) => void;
}

/** Reads new comments while the run is live: a stop ends the run, other mentions are listed in the comment. Returns how to end it. */
export function watchMentions(options: MentionWatchOptions): () => void {
  const { forge, journal, log } = options;
  let last = options.after;
  const look = async (): Promise<void> => {
    for (const comment of await forge.readCommentsAfter(last)) {
      last = comment.id;
      if (comment.author.isNpc) continue;
      if (comment.request === undefined) continue;
      if (threadCommandOf(comment.request) === 'stop') return options.onStop(comment.author.username);
      const listed = journal.record.mentions.some((mention) => mention.commentId === comment.id);
      if (!listed)
        await journal.write({
          type: 'mention.listed',
          comment_id: comment.id,
          author: comment.author.username,
          body: comment.request.slice(0, 300),
        });
    }
  };
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look()
      .catch((error) => log.warn({ error }, 'new comments could not be read'))
      .finally(() => {
        busy = false;
      });
  }, options.everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The comment after which people speak to a run whose own comment is `own`: its trigger, since a stop may be there before our
 * comment is. What was said to an earlier try of the same request does not count for a rebuild.
 */
export async function watchFrom(forge: Forge, { thread, isRetry }: Trigger, own: string): Promise<string> {
  const isId = (text = ''): boolean => /^\d+$/.test(text);
  if (isRetry) return (await forge.readThread()).comments.findLast(({ id }) => isId(id))?.id ?? own;
  return thread && isId(thread.occasion) ? thread.occasion : own;
}
