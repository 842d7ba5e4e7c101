/** From this many repetitions on the model is told, the call is not run any more, the loop ends. */
export const REPEATS = { nudge: 3, block: 5, stop: 8 } as const;

/** A call that came to its end, whether it ran or not. */
export interface SeenCall {
  readonly tool: string;
  /** Stands for the tool and its effective arguments; labels make no difference. */
  readonly key: string;
  /** Stands for the result; absent when the guard itself kept the call from running. */
  readonly result?: string;
  /** The result says nothing, so that another call may well have the same. */
  readonly silent: boolean;
  /** The file a failed call was about, and what it said. */
  readonly failure?: string;
  /** Whether it changed files; undefined when that cannot be known, as after a shell command. */
  readonly changed: boolean | undefined;
}

/** Notices circles: the same call (in a row, or with the same result), one result in a row, one failure on one file, A-B-A-B. */
export function createProgressGuard() {
  const calls = new Map<
    string,
    { readonly result: string | undefined; readonly times: number; readonly era: number }
  >();
  const failures = new Map<string, number>();
  const history: string[] = [];
  let inRow = { key: '', times: 0 };
  let sameResult = { of: '', times: 0 };
  /** Grows with each call that changed files, or that may have and came out otherwise than the last time. */
  let era = 0;

  return {
    /** Before a call: whether it was repeated so often that it is not run again. */
    blocks(key: string): boolean {
      const last = calls.get(key);
      const times = Math.max(last?.era === era ? last.times : 0, inRow.key === key ? inRow.times : 0);
      const swing = swingLength([...history, `${key} ${last?.result}`]);
      return times + 1 >= REPEATS.block || swing > 2 * REPEATS.nudge;
    },

    /** After a call: how often it repeated by now, in whichever way counts most. */
    repetitions({ tool, key, result = calls.get(key)?.result, silent, failure, changed }: SeenCall): number {
      const last = calls.get(key);
      const again = last?.era === era && last.result === result ? last.times + 1 : 1;
      if (changed ?? last?.result !== result) era += 1;
      calls.set(key, { result, times: again, era });

      if (changed) failures.clear();
      const failed = failure === undefined ? 0 : (failures.get(`${tool} ${failure}`) ?? 0) + 1;
      if (failure !== undefined) failures.set(`${tool} ${failure}`, failed);

      inRow = { key, times: inRow.key === key ? inRow.times + 1 : 1 };
      const of = silent || changed ? '' : `${tool} ${result}`;
      sameResult = { of, times: of !== '' && sameResult.of === of ? sameResult.times + 1 : 1 };
      history.push(`${key} ${result}`);
      const swing = swingLength(history);
      const swings = swing > 2 * REPEATS.nudge + 1 ? REPEATS.stop : Math.floor(swing / 2);
      return Math.max(again, failed, inRow.times, sameResult.times, swings);
    },
  };
}

/** For how many entries up to the end two different ones have followed each other in turn. */
function swingLength(history: readonly string[]): number {
  const last = history.length - 1;
  if (history[last] === history[last - 1]) return 0;
  let length = 2;
  while (last >= length && history[last - length] === history[last - length + 2]) length += 1;
  return length;
}
