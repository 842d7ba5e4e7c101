import { type Envelope, frames } from '../../protocol/index.ts';
import type { LogFilter } from './filter.ts';
import type { FrameRange, Source } from './source.ts';

/**
 * The filter with the tasks that its agents were offered. The log has a task as it was given, to a role, and then who was
 * offered it in the `task.status` to its owner, or who took or declined it.
 */
export async function withOffers(source: Source, filter: LogFilter): Promise<LogFilter> {
  const { agents = [], since } = filter;
  if (agents.length === 0) return filter;
  const whole: FrameRange = since === undefined ? {} : { since };
  const isSearched = (await source.last()) === undefined;
  const signs = ['task.status', 'task.accept', 'task.decline'];
  const pieces: readonly FrameRange[] = isSearched ? [whole] : signs.map((type) => ({ ...whole, type }));
  const offered = new Set<string>();
  for (const piece of pieces) {
    for await (const frame of source.frames(piece))
      if (agents.includes(offeredTo(frame) ?? '')) offered.add(frame.task_id);
  }
  return { ...filter, offered };
}

function offeredTo(frame: Envelope): string | undefined {
  if (frame.type === 'task.accept' || frame.type === 'task.decline') return frame.from;
  if (frame.type !== 'task.status') return undefined;
  return frames['task.status'].safeParse(frame).data?.payload.agent ?? undefined;
}
