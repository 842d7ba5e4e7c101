/** Gives a line the indentation of the place it goes to; undefined when it has not what would have to be taken away. */
export type Reindent = (line: string) => string | undefined;

export interface IndentedPlace {
  readonly start: number;
  readonly end: number;
  readonly reindent: Reindent;
}

/** Finds whole lines that equal those of `wanted` but for the same indentation more, or less, on every one of them. */
export function findIndented(text: string, wanted: string): IndentedPlace[] {
  const lines = text.split('\n');
  const asked = wanted.split('\n');
  const closed = asked.length > 1 && asked.at(-1) === '';
  if (closed) asked.pop();
  const found: IndentedPlace[] = [];
  let start = 0;
  for (let first = 0; first + asked.length <= lines.length; first += 1) {
    const block = lines.slice(first, first + asked.length);
    const reindent = sameButShifted(block, asked);
    if (reindent) {
      const body = block.join('\n');
      const end = start + (closed ? body.length + 1 : body.replace(/\r$/, '').length);
      found.push({ start, end: Math.min(end, text.length), reindent });
    }
    start += (lines[first]?.length ?? 0) + 1;
  }
  return found;
}

function sameButShifted(block: readonly string[], asked: readonly string[]): Reindent | undefined {
  let shift: { readonly more: boolean; readonly by: string } | undefined;
  for (const [at, wanted] of asked.entries()) {
    const line = block[at] ?? '';
    if (line.trim() !== wanted.trim()) return undefined;
    if (wanted.trim() === '') continue;
    const difference = shiftBetween(indentOf(line), indentOf(wanted));
    if (!difference) return undefined;
    shift ??= difference;
    if (shift.by !== difference.by || shift.more !== difference.more) return undefined;
  }
  if (!shift) return undefined;
  const { more, by } = shift;
  return (line) => {
    if (line.trim() === '') return line;
    if (more) return by + line;
    return line.startsWith(by) ? line.slice(by.length) : undefined;
  };
}

function shiftBetween(has: string, asked: string): { more: boolean; by: string } | undefined {
  if (has.endsWith(asked)) return { more: true, by: has.slice(0, has.length - asked.length) };
  if (asked.endsWith(has)) return { more: false, by: asked.slice(0, asked.length - has.length) };
  return undefined;
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}
