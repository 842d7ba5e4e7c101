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
  const lines = text.split('\n').map((line) => capLine(line, maxLine, cure));
  const bytes = lines.map((line) => Buffer.byteLength(line) + 1);
  const whole = lines.join('\n');
  if (howManyFit(bytes, bounds, 1) === lines.length) return { text: whole, cut: whole !== text };
  const head = howManyFit(bytes, bounds, 0.4);
  const tail = lines.length - howManyFit(bytes.toReversed(), bounds, 0.6);
  const missing = bytes.slice(head, tail).reduce((total, each) => total + each, 0);
  const note = `[… ${tail - head} of ${lines.length} lines (${missing} bytes) left out${cure} …]`;
  return { text: [...lines.slice(0, head), note, ...lines.slice(tail)].join('\n'), cut: true };
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

function howManyFit(bytes: readonly number[], { maxBytes, maxLines }: TextBounds, share: number): number {
  let total = 0;
  const first = bytes.findIndex((each, index) => {
    total += each;
    return total > maxBytes * share || index + 1 > maxLines * share;
  });
  return first < 0 ? bytes.length : first;
}
