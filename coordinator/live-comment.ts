import type { Log } from '../base/log.ts';
import type { Forge } from './forge.ts';

/** Platform edits are at least this far apart (ms), and a quiet comment renews its `live until` this often. */
const APART_MS = 2_000;
const RENEW_MS = 90_000;
/** A live comment counts as abandoned this long after its last edit. */
export const LIVE_FOR_MS = 240_000;

/** The run's one comment while it is at work. */
export interface LiveComment {
  /** The text may have changed: edit soon. */
  touch(): void;
  /** Writes the last text and stops; retried a few times, since this is the one that must arrive. */
  finish(body: string): Promise<void>;
  stop(): void;
}

interface LiveCommentOptions {
  readonly forge: Forge;
  readonly commentId: string;
  readonly render: () => Promise<string>;
  readonly log: Log;
}

/** Keeps the comment true while the run works, with few edits: at most one every 2 s, at least one every 90 s. */
export function startLiveComment({ forge, commentId, render, log }: LiveCommentOptions): LiveComment {
  let last = '';
  let lastAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let stopped = false;

  const write = async (): Promise<void> => {
    if (stopped) return;
    try {
      const body = await render();
      if (stopped) return;
      lastAt = Date.now();
      if (body !== last) await forge.updateComment(commentId, body);
      last = body;
    } catch (error) {
      log.warn({ error }, 'the progress comment could not be edited');
    }
    schedule(RENEW_MS);
  };
  const schedule = (inMs: number): void => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(() => {
      writing = writing.then(write);
    }, inMs);
    timer.unref();
  };
  schedule(RENEW_MS);

  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
  };
  return {
    touch: () => schedule(Math.max(0, lastAt + APART_MS - Date.now())),
    stop,
    async finish(body) {
      stop();
      await writing;
      await retry(() => forge.updateComment(commentId, body), log);
    },
  };
}

async function retry(work: () => Promise<void>, log: Log): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 4) throw error;
      log.warn({ error, attempt }, 'the final comment could not be written yet');
      await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
    }
  }
}
