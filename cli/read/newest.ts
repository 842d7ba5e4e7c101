import type { Envelope } from '../../protocol/index.ts';
import { fits, type LogFilter } from './filter.ts';
import { narrow } from './narrow.ts';
import type { Source } from './source.ts';

/** Positions that are looked through first, from the end of the log; four times as many with each further look. */
const FIRST_LOOK = 1000;

/** The newest frames that fit, at most `count`, in order. `upto` is where the log ended then. */
export async function newestFrames(
  source: Source,
  count: number,
  filter: LogFilter,
): Promise<{ frames: Envelope[]; upto: number }> {
  const { since } = filter;
  const last = await source.last();
  const range = await narrow(source, filter);
  let frames: Envelope[] = [];
  if (last === undefined || range.tree !== undefined) {
    let upto = last ?? 0;
    for await (const frame of source.frames(range)) {
      upto = Math.max(upto, frame.lsn ?? 0);
      if (fits(frame, filter)) frames.push(frame);
      if (frames.length > 2 * count + FIRST_LOOK) frames = newest(frames, count);
    }
    return { frames: newest(frames, count), upto };
  }
  let before = last;
  for (let span = Math.max(FIRST_LOOK, count); before > 0 && frames.length < count; span *= 4) {
    const after = Math.max(0, before - span);
    const part: Envelope[] = [];
    let seen = 0;
    for await (const frame of source.frames({ ...range, afterLsn: after, uptoLsn: before })) {
      seen += 1;
      if (fits(frame, filter)) part.push(frame);
    }
    frames = [...part, ...frames];
    // nothing is left before that time
    if (seen === 0 && since !== undefined) break;
    before = after;
  }
  return { frames: newest(frames, count), upto: last };
}

function newest(frames: Envelope[], count: number): Envelope[] {
  return count === 0 ? [] : frames.slice(-count);
}
