import type { Envelope } from '../../protocol/index.ts';
import { print, readerGone, say } from '../print.ts';
import { showProgress } from '../progress.ts';
import { fits, isOpen, type LogFilter } from '../read/filter.ts';
import { withOffers } from '../read/offers.ts';
import { openSource, type SourceOptions } from '../read/open-source.ts';
import { unknownWords } from '../read/unknown-words.ts';
import { type Look, wantedFrames } from '../read/wanted.ts';
import { logLine } from '../show/log-line.ts';
import { plural } from '../show/units.ts';
import { abortOnSignal } from '../signals.ts';

export interface ShowOptions extends SourceOptions {
  /** Only the newest so many. */
  readonly last?: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** How long a hub may be away before following it is given up, ms. */
const PATIENCE_MS = 60_000;

/** How long a slow reader may hold up the end of following, ms. */
const GRACE_MS = 1000;

/** Prints the frames that fit, and with `follow` those that come. */
export async function showLog({ last, follow, json = false, ...where }: ShowOptions, wanted: LogFilter): Promise<void> {
  const gone = readerGone();
  const end = follow ? AbortSignal.any([gone, abortOnSignal(GRACE_MS)]) : gone;
  const source = await openSource(where, follow ? PATIENCE_MS : undefined);
  let looked = 0;
  const progress = showProgress(() => `${plural(looked, 'message')} looked through`);
  const show = async (frame: Envelope) => {
    progress.clear();
    const columns = process.stdout.isTTY ? process.stdout.columns : undefined;
    await print(json ? JSON.stringify(frame) : logLine(frame, columns));
  };
  try {
    const filter = await withOffers(source, wanted);
    const frames = wantedFrames(source, filter, last, () => {
      looked += 1;
    });
    for (let next = await frames.next(); ; next = await frames.next()) {
      if (next.done) {
        progress.end();
        if (follow) await showComing(source.follow(next.value.upto, end), filter, show);
        else if (next.value.shown === 0 && !isOpen(filter)) {
          say(nothing(next.value, filter));
          for (const hint of await unknownWords(source, filter)) say(hint);
        }
        break;
      }
      if (end.aborted) break;
      await show(next.value);
    }
  } finally {
    progress.end();
    await source.close();
  }
}

async function showComing(
  coming: AsyncIterable<Envelope>,
  filter: LogFilter,
  show: (frame: Envelope) => Promise<void>,
): Promise<void> {
  for await (const frame of coming) if (fits(frame, filter)) await show(frame);
}

function nothing({ seen }: Look, { since }: LogFilter): string {
  if (since !== undefined && !seen) return `no message since ${new Date(since).toLocaleString('sv-SE')}`;
  return seen === undefined ? 'no message matches' : `0 of ${seen} messages match`;
}
