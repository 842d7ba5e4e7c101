import type { Clock } from '../base/time.ts';
import type { TaskRecord } from './storage.ts';

/** A task that waits, as its line sees it. */
export interface Waiter {
  readonly record: Pick<TaskRecord, 'target' | 'priority' | 'created'>;
  /** Counts the tasks in the order in which the hub heard of them. */
  readonly number: number;
  /** Whether it is not to be offered yet. */
  readonly backingOff: boolean;
}

/** Who waits where. */
interface Place<T> {
  readonly line: TaskLine<T & Waiter>;
  ready: boolean;
}

/** All tasks that wait to be offered, in a line for each target; a change costs no look at the others. */
export class TaskLines<T extends Waiter> {
  readonly #clock: Clock;
  readonly #patience: number;
  readonly #expired: (task: T) => void;
  readonly #lines = new Map<string, TaskLine<T>>();
  readonly #places = new Map<T, Place<T>>();
  #served: ReadonlySet<string> = new Set();
  #room = false;

  /** `patience` is how long a task waits in vain, ms (0 = for ever); then `expired` is called with it. */
  constructor(clock: Clock, patience: number, expired: (task: T) => void) {
    this.#clock = clock;
    this.#patience = patience;
    this.#expired = expired;
  }

  get size(): number {
    return this.#places.size;
  }

  /** Puts a task into the line of its target; `rides` says that it needs no slot of its own. Whoever changes line waits anew. */
  place(task: T, rides: boolean): void {
    const key = keyOf(task.record.target, rides);
    const ready = !task.backingOff;
    let place = this.#places.get(task);
    if (place !== undefined && place.line.key !== key) {
      this.remove(task);
      place = undefined;
    }
    if (place === undefined) {
      place = { line: this.#line(key, task.record.target, rides), ready: false };
      place.line.wait(task);
      this.#places.set(task, place);
    }
    if (place.ready === ready) return;
    place.ready = ready;
    if (ready) place.line.add(task);
    else place.line.take(task);
  }

  /** Takes a task out of its line; nothing happens when it is in none. */
  remove(task: T): void {
    const place = this.#places.get(task);
    if (place === undefined) return;
    const { line, ready } = place;
    this.#places.delete(task);
    if (ready) line.take(task);
    if (line.leave(task)) this.#lines.delete(line.key);
  }

  /** Whether a task could be offered: one that needs no slot, or any while `room` is left. */
  hasReady(room: boolean): boolean {
    if (room) return this.size > 0;
    for (const { rides } of this.#lines.values()) if (rides) return true;
    return false;
  }

  /** Who is first among those that wait for one of these targets. */
  first(targets: Iterable<string>, room: boolean): T | undefined {
    let best: T | undefined;
    for (const target of targets) {
      for (const rides of room ? [true, false] : [true]) {
        const head = this.#lines.get(keyOf(target, rides))?.head;
        if (head !== undefined && (best === undefined || isBefore(head, best))) best = head;
      }
    }
    return best;
  }

  /** Whether anybody waits for this target. */
  has(target: string): boolean {
    return this.#lines.has(keyOf(target, true)) || this.#lines.has(keyOf(target, false));
  }

  /** Lets the clocks run of those that could be at work if somebody were there; `served` is whom somebody is there for. */
  judge(served: ReadonlySet<string>, room: boolean): void {
    if (served === this.#served && room === this.#room) return;
    this.#served = served;
    this.#room = room;
    for (const line of this.#lines.values()) this.#judge(line);
  }

  stop(): void {
    for (const line of this.#lines.values()) line.runClock(false);
  }

  #line(key: string, target: string, rides: boolean): TaskLine<T> {
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const line = new TaskLine<T>({ key, target, rides }, this.#clock, this.#patience, this.#expired);
    this.#lines.set(key, line);
    this.#judge(line);
    return line;
  }

  #judge(line: TaskLine<T>): void {
    line.runClock((line.rides || this.#room) && !this.#served.has(line.target));
  }
}

/** Those that wait for one target, with one clock: it counts only while nobody is there for them. */
class TaskLine<T extends Waiter> {
  readonly key: string;
  readonly target: string;
  readonly rides: boolean;
  readonly #clock: Clock;
  readonly #patience: number;
  readonly #expired: (task: T) => void;
  /** In the order in which they are offered. */
  readonly #ready: T[] = [];
  /** All of them in the order in which they came, with the reading of the line's clock at which each has waited enough. */
  readonly #due = new Map<T, number>();
  /** How long the clock ran before `since`; undefined while it stands still. */
  #ran = 0;
  #since: number | undefined;
  #timer: { cancel(): void } | undefined;

  constructor(
    { key, target, rides }: { key: string; target: string; rides: boolean },
    clock: Clock,
    patience: number,
    expired: (task: T) => void,
  ) {
    this.key = key;
    this.target = target;
    this.rides = rides;
    this.#clock = clock;
    this.#patience = patience;
    this.#expired = expired;
  }

  get head(): T | undefined {
    return this.#ready[0];
  }

  wait(task: T): void {
    this.#due.set(task, this.#reading() + this.#patience);
    if (this.#timer === undefined) this.#wind();
  }

  /** True when nobody is left. */
  leave(task: T): boolean {
    this.#due.delete(task);
    if (this.#due.size > 0) return false;
    this.runClock(false);
    return true;
  }

  add(task: T): void {
    this.#ready.splice(this.#rank(task), 0, task);
  }

  take(task: T): void {
    this.#ready.splice(this.#rank(task), 1);
  }

  runClock(run: boolean): void {
    if (run === (this.#since !== undefined)) return;
    if (run) {
      this.#since = this.#clock.monotonic();
      this.#wind();
      return;
    }
    this.#ran = this.#reading();
    this.#since = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #reading(): number {
    return this.#since === undefined ? this.#ran : this.#ran + this.#clock.monotonic() - this.#since;
  }

  #wind(): void {
    if (this.#patience === 0 || this.#since === undefined) return;
    const [first] = this.#due.values();
    if (first === undefined) return;
    this.#timer = this.#clock.after(Math.max(1, first - this.#reading()), () => this.#ring());
  }

  #ring(): void {
    this.#timer = undefined;
    const now = this.#reading();
    for (const [task, due] of this.#due) {
      if (due > now) break;
      this.#expired(task);
    }
    if (this.#timer === undefined) this.#wind();
  }

  /** How many are before it. */
  #rank(task: T): number {
    let [from, to] = [0, this.#ready.length];
    // Most come last.
    if (to > 0 && isBefore(this.#ready[to - 1] as T, task)) return to;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isBefore(this.#ready[middle] as T, task)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function keyOf(target: string, rides: boolean): string {
  return `${rides ? '+' : '-'}${target}`;
}

/** Higher priority first, then the older one. */
function isBefore(one: Waiter, other: Waiter): boolean {
  const [a, b] = [one.record, other.record];
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.created !== b.created) return a.created < b.created;
  return one.number < other.number;
}
