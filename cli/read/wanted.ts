import type { Envelope } from '../../protocol/index.ts';
import { fits, type LogFilter } from './filter.ts';
import { mergeFrames } from './merge-frames.ts';
import { narrow } from './narrow.ts';
import { newestFrames } from './newest.ts';
import type { Source } from './source.ts';

/** What a look at the log came to: messages there were to choose from, where that is known, those that fit, and the position up to which that was. */
export interface Look {
  readonly seen?: number;
  readonly shown: number;
  readonly upto: number;
}

/** The frames that are there and fit; returns what the look came to. `looked` hears of each that is looked at. */
export async function* wantedFrames(
  source: Source,
  filter: LogFilter,
  last: number | undefined,
  looked: () => void = () => {},
): AsyncGenerator<Envelope, Look> {
  if (last !== undefined) {
    const { frames, upto } = await newestFrames(source, last, filter, looked);
    yield* frames;
    return { shown: frames.length, upto };
  }
  let [seen, shown] = [0, 0];
  // before the first page: with a time there may be nothing to read, and following goes on from here all the same
  const end = await source.last();
  let upto = end ?? 0;
  const ranges = await narrow(source, filter);
  const isChosen = ranges.some(({ type, agent }) => (type ?? agent) !== undefined);
  const uptoLsn = end === undefined ? {} : { uptoLsn: end };
  for await (const frame of mergeFrames(ranges.map((range) => source.frames({ ...range, ...uptoLsn })))) {
    looked();
    seen += 1;
    upto = Math.max(upto, frame.lsn ?? 0);
    if (!fits(frame, filter)) continue;
    shown += 1;
    yield frame;
  }
  return { ...(!isChosen && { seen }), shown, upto };
}
