import type { Block, Unit } from './block.ts';
import type { Sink } from './sink.ts';

/** Collects reasoning. Blocks in it are held until something follows them: only those at its very end may be calls. */
export class Reasoning implements Sink {
  readonly #show: (text: string) => void;
  #held: string[] = [];
  #run: Unit[] = [];

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  text(text: string): void {
    if (text.trim() !== '') this.release();
    if (this.#run.length > 0) this.#held.push(text);
    else this.#show(text);
  }

  thinking(text: string): void {
    this.text(text);
  }

  block(block: Block, raw: () => string): void {
    this.#held.push(raw());
    this.#run.push(...block.units);
  }

  hidden(raw: () => string): void {
    if (this.#run.length > 0) this.#held.push(raw());
  }

  thinkingEnded(raw: () => string): void {
    this.hidden(raw);
  }

  /** Shows what was held: it was no call. */
  release(): void {
    for (const text of this.#held) this.#show(text);
    this.#held = [];
    this.#run = [];
  }

  /** The units at the very end, now that the reasoning is over; their text is not shown. */
  take(): readonly Unit[] {
    const units = this.#run;
    this.#held = [];
    this.#run = [];
    return units;
  }
}
