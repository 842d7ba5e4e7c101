import type { Log } from '../base/log.ts';
import type { Forge } from './forge.ts';
import type { Journal } from './journal.ts';
import { threadCommandOf } from './thread-command.ts';

interface MentionWatchOptions {
  readonly forge: Forge;
  readonly journal: Journal;
  /** The run's own comment; only later ones are read. */
  readonly commentId: string;
  /** Milliseconds between two looks. */
  readonly everyMs: number;
  readonly log: Log;
  /** Somebody wrote `@Agent stop`. */
  readonly onStop: (author: string) => void;
}

/** Reads new comments while the run is live: a stop ends the run, other mentions are listed in the comment. Returns how to end it. */
export function watchMentions(options: MentionWatchOptions): () => void {
  const { forge, journal, log } = options;
  let last = options.commentId;
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
