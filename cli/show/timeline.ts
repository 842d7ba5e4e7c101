import type { Envelope } from '../../protocol/index.ts';
import { gist } from './log-line.ts';
import { plural, span } from './units.ts';
import { clip, pad, plain, widthOf } from './width.ts';

/** What happened to one task, a line each with the time since the one before; its events are counted. */
export class Timeline {
  readonly #columns: number;
  #before: number | undefined;
  #events = 0;

  constructor(columns = 160) {
    this.#columns = columns;
  }

  /** Lines for the next frame. */
  take(frame: Envelope): string[] {
    if (frame.type === 'task.event' || frame.type === 'task.progress') {
      this.#events += 1;
      return [];
    }
    const { ts = 0 } = frame;
    const since = this.#before === undefined ? '' : `+${span(ts - this.#before)}`;
    this.#before = ts;
    const time = ts === 0 ? '--:--:--' : new Date(ts).toLocaleTimeString('en-GB');
    const attempt = frame.attempt === undefined ? '' : ` #${frame.attempt}`;
    const parts = [`${frame.from} → ${frame.to}`, `${frame.type}${attempt}`, ...gist(frame)].map(plain);
    return [...this.end(), clip(`${time}  ${right(since, 8)}  ${parts.join('  ')}`, this.#columns)];
  }

  /** What is left to say of events. */
  end(): string[] {
    const count = this.#events;
    this.#events = 0;
    return count === 0 ? [] : [`${pad('', 20)}${plural(count, 'event')} of the work`];
  }
}

function right(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - widthOf(text))) + text;
}
