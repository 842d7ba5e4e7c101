import { createLogUpdate } from 'log-update';
import { type Clock, systemClock } from '../../base/time.ts';
import type { TaskRow } from '../../protocol/index.ts';
import { dimFor, type Readers } from './dim.ts';
import { duration, taskTable } from './task-table.ts';
import { clip, plain } from './width.ts';

/** What people see on stderr while a run works. */
export interface LiveView {
  /** One line of news; on a terminal it stays above the table. */
  say(line: string): void;
  /** One line of what a model thinks; dim. */
  think(line: string): void;
  /** Shows these rows from now on. */
  update(tasks: readonly TaskRow[]): void;
  close(): void;
}

interface LiveViewOptions {
  readonly stream: Readers;
  readonly clock?: Clock;
  /** Longest silence; a platform ends a job that says nothing for some minutes. ms. */
  readonly quietMs?: number;
}

/** A table that redraws itself on a terminal; elsewhere one line for each change, and a sign of life in between. */
export function openLiveView(options: LiveViewOptions): LiveView {
  return options.stream.isTTY ? terminalView(options) : plainView(options);
}

const REDRAW_MS = 1000;

function terminalView({ stream, clock = systemClock }: LiveViewOptions): LiveView {
  const draw = createLogUpdate(stream as NodeJS.WriteStream);
  let rows: readonly TaskRow[] = [];
  const columns = () => Math.max(40, stream.columns ?? 80);
  const redraw = () => {
    if (rows.length > 0)
      draw(
        taskTable(rows, { now: clock.now(), columns: columns() })
          .map((line) => clip(line, columns()))
          .join('\n'),
      );
  };
  let timer = every(REDRAW_MS, redraw, clock);
  const dim = dimFor(stream);
  const write = (line: string) => {
    draw.clear();
    stream.write(`${line}\n`);
    redraw();
  };
  return {
    say: (line) => write(plain(line)),
    think: (line) => write(dim(plain(line))),
    update(tasks) {
      rows = tasks;
      redraw();
    },
    close() {
      timer.cancel();
      timer = { cancel: () => {} };
      redraw();
      draw.done();
    },
  };
}

const QUIET_MS = 50_000;

function plainView({ stream, clock = systemClock, quietMs = QUIET_MS }: LiveViewOptions): LiveView {
  const started = clock.now();
  let spoke = clock.monotonic();
  let rows: readonly TaskRow[] = [];
  const told = new Map<string, string>();
  const dim = dimFor(stream);
  const write = (line: string) => {
    spoke = clock.monotonic();
    stream.write(`${line}\n`);
  };
  const say = (line: string) => write(plain(line));
  const timer = every(
    quietMs / 10,
    () => {
      if (clock.monotonic() - spoke >= quietMs)
        say(`still working, ${duration(clock.now() - started)}: ${doing(rows)}`);
    },
    clock,
  );
  return {
    say,
    think: (line) => write(dim(plain(line))),
    update(tasks) {
      rows = tasks;
      for (const task of tasks) {
        const news = newsOf(task);
        if (told.get(task.task_id) === news) continue;
        told.set(task.task_id, news);
        // on its way to somebody: what comes of it is told a moment later
        if (task.sub_state !== 'offered') say(clip(news, 160));
      }
    },
    close: () => timer.cancel(),
  };
}

/** Where a task stands, on one line. */
export function newsOf({ task_id, sub_state, attempt, agent, target, summary, reason }: TaskRow): string {
  const why = summary ?? (sub_state === 'working' ? null : reason);
  return [task_id, sub_state, `attempt ${attempt}`, agent ?? target, ...(why ? [why] : [])].join('  ');
}

function doing(rows: readonly TaskRow[]): string {
  const running = rows.filter((task) => task.state === 'running');
  if (running.length === 0) return 'between two tasks';
  return running.map((task) => `${task.agent ?? task.target} on ${task.task_id}`).join(', ');
}

function every(ms: number, act: () => void, clock: Clock): { cancel(): void } {
  let timer = clock.after(ms, tick);
  function tick() {
    act();
    timer = clock.after(ms, tick);
  }
  return { cancel: () => timer.cancel() };
}
