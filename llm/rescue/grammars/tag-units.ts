import type { Block } from '../block.ts';
import { NOTHING, nextSolid, type Parse } from '../cursor.ts';
import { MORE, match, type Pattern } from '../patterns.ts';

/** Reads one or several units inside a wrapper; `readOne` reads one, whose opener ends at `opened`, from that opener on. False when there is none. */
export function* readUnits(block: Block, open: Pattern, readOne: (opened: number) => Parse<boolean>): Parse<boolean> {
  const { cursor } = block;
  for (let count = 0; ; count += 1) {
    const before = cursor.position;
    if ((yield* nextSolid(cursor)) === NOTHING) {
      if (count === 0) block.cut();
      else cursor.position = before;
      return true;
    }
    const at = cursor.position;
    const opened = yield* match(cursor, open);
    if (opened === MORE && (count === 0 || cursor.end - at > 1)) {
      block.cut();
      return true;
    }
    if (opened >= 0 && (yield* readOne(opened))) continue;
    cursor.position = count > 0 ? before : at;
    return count > 0;
  }
}

/** A parameter's name and value; `cut` when the text ends within it, `bad` when it is none. */
export type Parameter = readonly [name: string, value: unknown] | 'cut' | 'bad';

/** How the parameters of a unit are written: what opens one, how it is read from its opener on, and what closes the unit. */
export interface ParameterTags {
  readonly open: Pattern;
  readonly close: Pattern;
  readonly readOne: (opened: number) => Parse<Parameter>;
}

/** Reads parameters up to the closer of their unit, which is a call then. */
export function* readParameters(block: Block, name: string, { open, close, readOne }: ParameterTags): Parse<void> {
  const { cursor } = block;
  const input: [string, unknown][] = [];
  for (;;) {
    if ((yield* nextSolid(cursor)) === NOTHING) return block.cut(name);
    const closed = yield* match(cursor, close);
    if (closed >= 0) {
      cursor.position = closed;
      return block.take(name, Object.fromEntries(input));
    }
    const opened = yield* match(cursor, open);
    if (opened === MORE || closed === MORE) return block.cut(name);
    const parameter = opened < 0 ? 'bad' : yield* readOne(opened);
    if (parameter === 'cut') return block.cut(name);
    if (parameter === 'bad') return yield* block.dropTo(close, name);
    input.push([...parameter]);
  }
}
