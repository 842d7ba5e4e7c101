import type { Cursor, Parse } from './cursor.ts';
import { MORE, type Pattern } from './patterns.ts';

/** How many steps are kept before they are found anew. */
const ROOM = 10_000;

/** What is known once some units have come: who may still match, or who does and how long it is. */
interface Step<T> {
  readonly open: readonly T[];
  readonly found: { readonly one: T; readonly length: number } | undefined;
  /** By the unit that comes next, as far as it came before. */
  next: Map<number, Step<T>> | undefined;
}

/** What came of it: one that matches and where it ends, or those that the end of the text cut off; none = no match. */
type Outcome<T> = { readonly one: T; readonly end: number } | { readonly cut: readonly T[] };

const NONE = { cut: [] } as const;

/**
 * Several patterns of which the first to be complete counts, the earlier one where several are. What each unit leaves of them is
 * remembered, so that in text like one that came before a unit costs one look-up, whatever their number.
 */
export class Alternatives<T extends { readonly pattern: Pattern }> {
  readonly #all: readonly T[];
  #first: Step<T>;
  #kept = 0;

  constructor(all: readonly T[]) {
    this.#all = all;
    this.#first = { open: all, found: undefined, next: undefined };
  }

  /** Looks at the text at `at` until it is decided. */
  *match(cursor: Cursor, at: number): Parse<Outcome<T>> {
    let step = this.#first;
    let isNew = false;
    for (let to = at; ; to += 1) {
      while (to >= cursor.end) {
        if (cursor.ended) return matchNow(step.open, cursor, at);
        yield;
      }
      const known = step.next?.get(cursor.code(to));
      // text that was never seen is not worth remembering as a whole: its next unit is, if it comes again
      if (!known && isNew) return yield* matchPlainly(step.open, cursor, at);
      isNew = !known;
      step = known ?? this.#keep(step, cursor, at, to);
      if (step.found) return { one: step.found.one, end: at + step.found.length };
      if (step.open.length === 0) return NONE;
    }
  }

  /** Finds what the unit at `to` leaves of a step. */
  #keep(step: Step<T>, cursor: Cursor, at: number, to: number): Step<T> {
    const outcome = cursor.asFarAs(to + 1, () => matchNow(step.open, cursor, at));
    const after: Step<T> =
      'cut' in outcome
        ? { open: outcome.cut, found: undefined, next: undefined }
        : { open: [], found: { one: outcome.one, length: outcome.end - at }, next: undefined };
    if (this.#kept >= ROOM) {
      this.#first = { open: this.#all, found: undefined, next: undefined };
      this.#kept = 0;
    }
    this.#kept += 1;
    step.next ??= new Map();
    step.next.set(cursor.code(to), after);
    return after;
  }
}

function* matchPlainly<T extends { readonly pattern: Pattern }>(
  all: readonly T[],
  cursor: Cursor,
  at: number,
): Parse<Outcome<T>> {
  for (let open = all; ; ) {
    const outcome = matchNow(open, cursor, at);
    if ('one' in outcome || outcome.cut.length === 0 || cursor.ended) return outcome;
    open = outcome.cut;
    yield;
  }
}

/** What the text that is there says. */
function matchNow<T extends { readonly pattern: Pattern }>(open: readonly T[], cursor: Cursor, at: number): Outcome<T> {
  const cut: T[] = [];
  for (const one of open) {
    const end = one.pattern(cursor, at);
    if (end >= 0) return { one, end };
    if (end === MORE) cut.push(one);
  }
  return { cut };
}
