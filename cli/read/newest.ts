import type { Envelope } from '../../protocol/index.ts';
import { fits, type LogFilter } from './filter.ts';
import { mergeFrames } from './merge-frames.ts';
import { narrow } from './narrow.ts';
import type { Source } from './source.ts';

/** Frames that are kept beyond those that are wanted, of a log that can be read from its beginning only. */
const SPARE = 1000;

/** The newest frames that fit, at most `count`, in order. `upto` is where the log ended then; `looked` hears of each that is looked at. */
export async function newestFrames(
  source: Source,
  count: number,
  filter: LogFilter,
  looked: () => void = () => {},
): Promise<{ frames: Envelope[]; upto: number }> {
  const { newestFirst } = source;
  const frames: Envelope[] = [];
  if (newestFirst === undefined) {
    let upto = 0;
    for await (const frame of source.frames()) {
      looked();
      upto = Math.max(upto, frame.lsn ?? 0);
      if (fits(frame, filter)) frames.push(frame);
      if (frames.length > 2 * count + SPARE) frames.splice(0, frames.length - count);
    }
    return { frames: count === 0 ? [] : frames.slice(-count), upto };
  }
  const upto = (await source.last()) ?? 0;
  if (count === 0) return { frames, upto };
  const ranges = await narrow(source, filter);
  const pieces = ranges.map((range) => newestFirst({ ...range, uptoLsn: upto }));
  for await (const frame of mergeFrames(pieces, true)) {
    looked();
    if (fits(frame, filter)) frames.push(frame);
    if (frames.length === count) break;
  }
  return { frames: frames.reverse(), upto };
}
