import type { Block, Unit } from './block.ts';
import type { Sink } from './sink.ts';

/** Collects what a message's content holds: visible text, and units in their order. */
export class Content implements Sink {
  /** Something other than white space was visible. */
  visible = false;
  readonly #show: (text: string) => void;
  readonly #think: (text: string) => void;
  /** Units before the last visible text, and those behind it. */
  #earlier: Unit[] = [];
  #run: Unit[] = [];
  /** A closer of thinking came, and nothing behind it yet: what stood before was thinking. */
  #drafted = false;

  constructor(show: (text: string) => void, think: (text: string) => void) {
    this.#show = show;
    this.#think = think;
  }

  text(text: string): void {
    this.#show(text);
    if (text.trim() === '') return;
    this.visible = true;
    this.#goOn();
    this.#earlier.push(...this.#run);
    this.#run = [];
  }

  thinking(text: string): void {
    this.#think(text);
  }

  block(block: Block): void {
    this.#goOn();
    this.#run.push(...block.units);
  }

  hidden(): void {}

  thinkingEnded(): void {
    // as in reasoning, only blocks at the very end may still be calls
    this.#drafted = true;
    this.#earlier = [];
  }

  /** The units that count, now that the message is over. */
  units(): readonly Unit[] {
    return [...this.#earlier, ...this.#run];
  }

  #goOn(): void {
    if (!this.#drafted) return;
    this.#drafted = false;
    this.#earlier = [];
    this.#run = [];
  }
}
