import { createLogUpdate } from 'log-update';
import { messageOf } from '../../base/errors.ts';
import { sleep } from '../../base/time.ts';
import type { Envelope } from '../../protocol/index.ts';
import { print, readerGone } from '../print.ts';
import { newestFrames } from '../read/newest.ts';
import { openSource, type SourceOptions, stateFolder } from '../read/open-source.ts';
import type { Source } from '../read/source.ts';
import { boardLines, type Scene } from '../show/watch-board.ts';
import { WatchNews } from '../show/watch-news.ts';
import { abortOnSignal } from '../signals.ts';

/** Time between two looks at the tables, ms. */
const LOOK_MS = 1000;

/** The traffic is the mean of so many looks. */
const LOOKS = 5;

/** Messages that are kept to be shown. */
const KEPT = 50;

/** How long a hub may be away before watching is given up, ms. */
const PATIENCE_MS = 60_000;

/** Shows a hub until a signal comes, its reader goes away, or it ends. */
export async function watchHub(where: Omit<SourceOptions, 'file'>): Promise<void> {
  const ending = new AbortController();
  const end = AbortSignal.any([readerGone(), abortOnSignal(1000), ending.signal]);
  const options = where.hub === undefined ? { state: await stateFolder(where.state) } : { hub: where.hub };
  const source = await openSource({ ...where, ...options }, PATIENCE_MS);
  const watch = new Watch(source, where.hub ?? options.state ?? '');
  try {
    const following = watch.follow(end).finally(() => ending.abort());
    const { stdout } = process;
    const draw = stdout.isTTY ? createLogUpdate(stdout) : undefined;
    for (;;) {
      const scene = await watch.look();
      const now = Date.now();
      if (draw) draw(boardLines(scene, { now, columns: stdout.columns || 80, rows: stdout.rows || 24 }).join('\n'));
      else for (const line of watch.news.lines(scene, now)) await print(line);
      if (end.aborted) break;
      await sleep(LOOK_MS, end).catch(() => {}); // the end is shown too
    }
    draw?.done();
    await following;
  } finally {
    await source.close();
  }
}

/** What is known of the hub, kept up to date. */
class Watch {
  readonly news = new WatchNews();
  readonly #source: Source;
  readonly #newest: Envelope[] = [];
  readonly #counts: number[] = [];
  #count = 0;
  #scene: Scene;

  constructor(source: Source, place: string) {
    this.#source = source;
    this.#scene = { place, tasks: [], newest: [], rate: 0 };
  }

  async follow(end: AbortSignal): Promise<void> {
    const { frames, upto } = await newestFrames(this.#source, KEPT, {});
    this.#newest.push(...frames);
    for await (const frame of this.#source.follow(upto, end)) {
      this.#count += 1;
      this.news.count();
      this.#newest.push(frame);
      if (this.#newest.length > KEPT) this.#newest.shift();
    }
  }

  /** The tables as they are now; while the hub is away, as they were. */
  async look(): Promise<Scene> {
    this.#counts.push(this.#count);
    this.#count = 0;
    if (this.#counts.length > LOOKS) this.#counts.shift();
    const rate = this.#counts.reduce((sum, count) => sum + count, 0) / this.#counts.length / (LOOK_MS / 1000);
    const { trouble: _, ...before } = this.#scene;
    const moving = { newest: this.#newest, rate };
    try {
      const [tasks, hub] = await Promise.all([this.#source.tasks(), this.#source.hub()]);
      const agents = hub?.connected?.filter(({ title }) => title !== 'somebody who looks');
      this.#scene = { place: before.place, tasks, ...(agents && { agents }), ...moving };
    } catch (error) {
      this.#scene = { ...before, ...moving, trouble: `away: ${messageOf(error)}` };
    }
    return this.#scene;
  }
}
