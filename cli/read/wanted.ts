import type { Envelope } from '../../protocol/index.ts';
import { fits, type LogFilter } from './filter.ts';
import { narrow } from './narrow.ts';
import { newestFrames } from './newest.ts';
import type { Source } from './source.ts';

/** What a look at the log came to: messages looked at, those that fit, and the position up to which that was. */
export interface Look {
  readonly seen?: number;
  readonly shown: number;
  readonly upto: number;
}

/** The frames that are there and fit; returns what the look came to. */
export async function* wantedFrames(
  source: Source,
  filter: LogFilter,
  last: number | undefined,
): AsyncGenerator<Envelope, Look> {
  if (last !== undefined) {
    const { frames, upto } = await newestFrames(source, last, filter);
    yield* frames;
    return { shown: frames.length, upto };
  }
  let [seen, shown] = [0, 0];
  // before the first page: with a time there may be nothing to read, and following goes on from here all the same
  let upto = (await source.last()) ?? 0;
  for await (const frame of source.frames(await narrow(source, filter))) {
    seen += 1;
    upto = Math.max(upto, frame.lsn ?? 0);
    if (!fits(frame, filter)) continue;
    shown += 1;
    yield frame;
  }
  return { seen, shown, upto };
}
