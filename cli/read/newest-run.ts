import { foldRun, type RunStory, runEventOf } from './fold-run.ts';
import type { Source } from './source.ts';

/** What the newest run of a log did; undefined when there is none in it. Where the log can be searched, its events alone are read. */
export async function newestRun(source: Source): Promise<RunStory | undefined> {
  if (source.newestFirst === undefined) return foldRun(source.frames());
  for await (const frame of source.newestFirst({ type: 'run.started' })) {
    const event = runEventOf(frame);
    if (event?.type === 'run.started') return foldRun(source.frames({ tree: event.run_key, type: 'task.event' }));
  }
  return undefined;
}
