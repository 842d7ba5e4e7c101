import { newsOf } from './live-view.ts';
import type { Scene } from './watch-board.ts';
import { clip, plain } from './width.ts';

/** Time between two lines about the traffic, ms. */
const TRAFFIC_MS = 10_000;

/** Tells what changed from one scene to the next, a line each, for those who watch without a terminal. */
export class WatchNews {
  readonly #agents = new Set<string>();
  readonly #tasks = new Map<string, string>();
  #toldAt: number | undefined;
  #count = 0;
  #told = 0;

  /** A message came. */
  count(): void {
    this.#count += 1;
  }

  /** Lines about what is new in `scene`. */
  lines({ agents, tasks }: Scene, now: number): string[] {
    const time = new Date(now).toLocaleTimeString('en-GB');
    const news = [...(agents ? this.#comings(agents) : []), ...this.#moves(tasks), ...this.#traffic(now)];
    return news.map((line) => clip(plain(`${time}  ${line}`), 200));
  }

  #comings(agents: NonNullable<Scene['agents']>): string[] {
    const names = new Set(agents.map(({ name }) => name));
    const came = agents.filter(({ name }) => !this.#agents.has(name));
    const went = [...this.#agents].filter((name) => !names.has(name));
    for (const { name } of came) this.#agents.add(name);
    for (const name of went) this.#agents.delete(name);
    return [
      ...came.map(({ name, roles }) => `${name} is here${roles.length > 0 ? ` (${roles.join(', ')})` : ''}`),
      ...went.map((name) => `${name} is gone`),
    ];
  }

  #moves(tasks: Scene['tasks']): string[] {
    return tasks.flatMap((task) => {
      const news = newsOf(task);
      if (this.#tasks.get(task.task_id) === news) return [];
      this.#tasks.set(task.task_id, news);
      return [news];
    });
  }

  #traffic(now: number): string[] {
    this.#toldAt ??= now;
    if (now - this.#toldAt < TRAFFIC_MS) return [];
    const count = this.#count - this.#told;
    const seconds = Math.round((now - this.#toldAt) / 1000);
    this.#toldAt = now;
    this.#told = this.#count;
    return count > 0 ? [`${count} messages in ${seconds} s`] : [];
  }
}
