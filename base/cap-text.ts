/** Bounds of a text for a model; a line's length in UTF-16 units. */
export interface TextBounds {
  readonly maxBytes: number;
  readonly maxLines: number;
  readonly maxLine: number;
}

/** A text within bounds, and whether anything was left out of it. */
export interface CappedText {
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Keeps the head and the tail of a text that is too long, more of the tail because errors stand at the end, and both ends of each
 * line that is too long. Every gap says how much is missing and, by `rest`, how to get it. Never cuts inside a character.
 */
export function capText(text: string, bounds: TextBounds, rest?: string): CappedText {
  const cure = rest === undefined ? '' : `; to see them: ${rest}`;
  // A line has to fit into the head even when each unit takes three bytes.
  const maxLine = Math.min(bounds.maxLine, Math.floor(bounds.maxBytes / 10));
  const lines = text.split('\n');
  const shown = (index: number) => capLine(lines[index] ?? '', maxLine, cure);
  if (howManyFit(lines.length, shown, bounds, 1) === lines.length) {
    const whole = lines.map((_, index) => shown(index)).join('\n');
    return { text: whole, cut: whole !== text };
  }
  const head = howManyFit(lines.length, shown, bounds, 0.4);
  const tail = lines.length - howManyFit(lines.length, (index) => shown(lines.length - 1 - index), bounds, 0.6);
  const missing = Buffer.byteLength(lines.slice(head, tail).join('\n')) + 1;
  const note = `[… ${tail - head} of ${lines.length} lines (${missing} bytes) left out${cure} …]`;
  const kept = (from: number, to: number) => lines.slice(from, to).map((_, index) => shown(from + index));
  return { text: [...kept(0, head), note, ...kept(tail, lines.length)].join('\n'), cut: true };
}

/** Both ends of a line that is longer than `max`, with a note between them. */
export function capLine(line: string, max: number, cure = ''): string {
  if (line.length <= max) return line;
  const keep = Math.floor(max / 2);
  const start = line.slice(0, splitsPair(line, keep) ? keep - 1 : keep);
  const from = line.length - keep;
  const end = line.slice(splitsPair(line, from) ? from + 1 : from);
  return `${start}[… ${line.length - start.length - end.length} characters of this line left out${cure} …]${end}`;
}

/** Whether a cut before `index` would part the two halves of one character. */
function splitsPair(text: string, index: number): boolean {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff;
}

/** Looks at no more lines than fit: a text of a million lines is capped as fast as one of a thousand. */
function howManyFit(
  count: number,
  line: (index: number) => string,
  { maxBytes, maxLines }: TextBounds,
  share: number,
): number {
  let bytes = 0;
  for (let index = 0; index < count; index += 1) {
    bytes += Buffer.byteLength(line(index)) + 1;
    if (bytes > maxBytes * share || index + 1 > maxLines * share) return index;
  }
  return count;
}
