import type { TaskRow } from '../protocol/index.ts';
import type { Journal } from './journal.ts';
import { LIVE_FOR_MS } from './live-comment.ts';
import type { CoordinatorOptions } from './options.ts';
import type { Marker } from './report/marker.ts';
import { renderFinal, renderProgress } from './report/render.ts';
import type { RunView } from './report/view.ts';

/** What a run looks like at the moment: for the comment, and for whoever watches. */
export interface Picture {
  /** The language that people are answered in. */
  language: 'zh-CN' | 'en';
  /** Where the attached log is, once it is. */
  logUrl: string | undefined;
  look(): Promise<RunView>;
  /** The comment while the run works; masked. */
  progress(): Promise<string>;
  /** The comment when it is over; masked. */
  final(): Promise<string>;
}

/** Draws a run from its record and from the hub's task table. */
export function createPicture(options: CoordinatorOptions, journal: Journal, startedAt: number): Picture {
  const { runKey, client, version, masker, trigger } = options;
  let tasks: readonly TaskRow[] = [];

  const footer = (marker: Omit<Marker, 'runKey'>) => ({ version, marker: { runKey, ...marker } });
  const picture: Picture = {
    language: trigger.language,
    logUrl: undefined,
    async look() {
      tasks = await client.tasks(`${runKey}.`).catch(() => tasks);
      const view: RunView = {
        runKey,
        language: picture.language,
        record: journal.record,
        tasks,
        ...(trigger.buildUrl && { buildUrl: trigger.buildUrl }),
        ...(picture.logUrl && { logUrl: picture.logUrl }),
        startedAt,
        now: Date.now(),
      };
      options.onUpdate?.(view);
      return view;
    },
    async progress() {
      const view = await picture.look();
      return masker.mask(renderProgress(view, footer({ state: 'live', liveUntil: Date.now() + LIVE_FOR_MS })));
    },
    async final() {
      const { verdict, cause } = journal.record.verdict ?? {};
      return masker.mask(
        renderFinal(await picture.look(), footer({ state: 'final', verdict: verdict ?? cause ?? 'none' })),
      );
    },
  };
  return picture;
}
