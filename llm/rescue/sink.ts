import type { Block } from './block.ts';

/** Who is told what a scanner finds, in its order. A `raw` must be asked at once. */
export interface Sink {
  /** Text that is no part of a call, for certain. */
  text(text: string): void;
  /** Thinking that stands in the text. */
  thinking(text: string): void;
  /** A block, taken out of the text. */
  block(block: Block, raw: () => string): void;
  /** A closer, token or header that was taken out. */
  hidden(raw: () => string): void;
  /** A closer of thinking that nobody opened, taken out. */
  thinkingEnded(raw: () => string): void;
}
