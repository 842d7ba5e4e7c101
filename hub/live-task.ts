import type { Clock } from '../base/time.ts';
import type { HubClocks } from './options.ts';
import type { TaskRecord } from './storage.ts';
import { isOver } from './task-machine.ts';
import { afterReading, Timers } from './timers.ts';

/** A worker may announce a long call, but not one without an end; ms. */
export const LONGEST_CALL = 3_600_000;

type TimerName = 'accept' | 'silence' | 'attempt' | 'cancel' | 'backoff';

/** What a task's clocks ask for when they run out. */
export interface Alarms {
  accept(): void;
  silence(): void;
  attempt(): void;
  cancel(): void;
  backoff(): void;
}

/** A task that is not over, with its clocks. They run by monotonic time; the record's deadline is for others to read. */
export class LiveTask {
  record: TaskRecord;
  /** Counts the tasks in the order in which the hub heard of them. */
  readonly number: number;
  /** Whether it has a slot of its own. */
  slot = false;
  /** Whether it waits for an answer of somebody who is gone: until there is one it needs no slot. */
  parked = false;
  /** Id of the newest question; undefined when none was asked, or none was open when the hub began. */
  question: string | undefined;
  /** Who had the last attempt. */
  lastAgent: string | null = null;
  /** Offers in a row that came to nothing. */
  withdrawn = 0;
  /** Agents that let an offer pass or fell silent; asked again only when there is nobody else. */
  readonly passed = new Set<string>();
  readonly #clock: Clock;
  readonly #clocks: HubClocks;
  readonly #alarms: Alarms;
  readonly #timers: Timers<TimerName>;
  /** Later of the last sign and the end of the call that it announced. */
  #quietSince = 0;
  #busyUntil = 0;
  #attemptLeft = 0;
  #attemptSince = 0;

  constructor(record: TaskRecord, number: number, clock: Clock, clocks: HubClocks, alarms: Alarms) {
    this.record = record;
    this.number = number;
    this.#clock = clock;
    this.#clocks = clocks;
    this.#alarms = alarms;
    this.#timers = new Timers(clock);
  }

  /** Sets the clocks that run where the task stands now; `before` is where it stood. */
  entered(before: TaskRecord['subState']): void {
    const now = this.#clock.monotonic();
    const { subState } = this.record;
    if (before === 'working') this.#attemptLeft -= now - this.#attemptSince;
    this.#timers.clearAll();
    if (subState === 'offered') this.#timers.set('accept', this.#clocks.accept, this.#alarms.accept);
    if (subState === 'cancelling') this.#timers.set('cancel', this.#clocks.cancelGrace, this.#alarms.cancel);
    if (subState !== 'working') return;
    if (before !== 'input_required') this.#attemptLeft = this.record.attemptMs;
    this.#runAttempt(now);
  }

  /**
   * Sets the clocks of a task that was at work when the hub went down; silence counts anew, or from the end of the call that
   * its worker had announced. Both arguments are ms since epoch.
   */
  revived(now: number, busyUntil = 0): void {
    const { deadline, attemptMs } = this.record;
    this.#attemptLeft = deadline === null ? attemptMs : Math.max(1, deadline - now);
    if (this.record.subState === 'working') {
      const since = this.#clock.monotonic();
      this.#runAttempt(since);
      if (busyUntil > now) this.#busyUntil = this.#quietSince = since + busyUntil - now;
    }
    if (this.record.subState === 'cancelling')
      this.#timers.set('cancel', this.#clocks.cancelGrace, this.#alarms.cancel);
  }

  /** A sign of life; with `busyUntil` (ms since epoch) silence counts from there. Returns until when it may be silent, ms since epoch. */
  sign(busyUntil = 0): number {
    const now = this.#clock.monotonic();
    if (busyUntil > 0) this.#busyUntil = now + Math.min(busyUntil - this.#clock.now(), LONGEST_CALL);
    this.#quietSince = Math.max(now, this.#busyUntil);
    return Math.round(this.#clock.now() + this.#quietSince - this.#clock.monotonic() + this.record.silenceMs);
  }

  /** When the attempt that runs, or begins now, ends at the latest; null = never. */
  deadline(): number | null {
    if (this.record.attemptMs === 0) return null;
    const left =
      this.record.subState === 'working'
        ? this.#attemptLeft - (this.#clock.monotonic() - this.#attemptSince)
        : this.record.attemptMs;
    return Math.round(this.#clock.now() + left);
  }

  /** Keeps the task from being offered for `ms`. */
  backOff(ms: number): void {
    this.#timers.set('backoff', Math.max(1, ms), this.#alarms.backoff);
  }

  /** How long the worker has given no sign of life, ms; 0 during a call that it announced. */
  get quietMs(): number {
    return Math.max(0, this.#clock.monotonic() - this.#quietSince);
  }

  get backingOff(): boolean {
    return this.#timers.has('backoff');
  }

  get over(): boolean {
    return isOver(this.record.subState);
  }

  stop(): void {
    this.#timers.clearAll();
  }

  #runAttempt(now: number): void {
    this.#attemptSince = now;
    this.#quietSince = now;
    this.#busyUntil = 0;
    this.#timers.set('attempt', this.record.attemptMs === 0 ? 0 : Math.max(1, this.#attemptLeft), this.#alarms.attempt);
    this.#listen(this.record.silenceMs);
  }

  #listen(ms: number): void {
    const { attempt } = this.record;
    this.#timers.set('silence', ms, () =>
      afterReading(() => {
        if (this.record.subState === 'working' && this.record.attempt === attempt) this.#checkSilence();
      }),
    );
  }

  #checkSilence(): void {
    const quiet = this.#clock.monotonic() - this.#quietSince;
    if (quiet >= this.record.silenceMs) this.#alarms.silence();
    else this.#listen(Math.max(1, this.record.silenceMs - quiet));
  }
}
