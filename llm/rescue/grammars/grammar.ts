import type { Block } from '../block.ts';
import type { Parse } from '../cursor.ts';
import type { Pattern } from '../patterns.ts';

/** One way of writing calls: a row of the table in `index.ts`. */
export interface Grammar {
  /** The format's name in counters and notes; `read` may name a closer one. */
  readonly format: string;
  /** What begins a block. Its first unit is `<` or `[`, unless `at` is `line`. */
  readonly opener: Pattern;
  /** `line` = the opener counts only at the start of a line, or straight behind a block. Default `anywhere`. */
  readonly at?: 'anywhere' | 'line';
  /** Whether a partial opener at the end of the text counts as a cut call; by default one of six or more characters does. */
  readonly cut?: (text: string) => boolean;
  /**
   * Reads a block, whose opener the cursor has just passed, to its end, and puts its units into the block. False when what follows the
   * opener does not fit: then all of it is text.
   */
  read(block: Block): Parse<boolean>;
}
