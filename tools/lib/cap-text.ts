/** Bounds of a text for a model. */
export interface TextBounds {
  readonly maxBytes: number;
  readonly maxLines: number;
  /** Longest line, characters. */
  readonly maxLine: number;
}

/** A text within bounds, and what was left out of it. */
export interface CappedText {
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Keeps head and tail of a text that is too long (two fifths and three fifths: errors stand at the end), and the
 * beginning of each line that is too long; every gap says how much is missing.
 */
export function capText(text: string, bounds: TextBounds): CappedText {
  const lines = text.split('\n');
  const short = lines.map((line) => capLine(line, bounds.maxLine));
  const head: string[] = [];
  const tail: string[] = [];
  take(head, short, bounds, 0.4);
  take(tail, short.slice(head.length).reverse(), bounds, 0.6);
  const missing = short.length - head.length - tail.length;
  if (missing <= 0) return { text: short.join('\n'), cut: short.some((line, at) => line !== lines[at]) };
  return { text: [...head, `[… ${missing} lines left out …]`, ...tail.reverse()].join('\n'), cut: true };
}

/** The beginning of a line that is longer than `max` characters, with the length it has. */
export function capLine(line: string, max: number): string {
  if (line.length <= max) return line;
  // Not between the halves of a character beyond the basic plane.
  const end = /[\uD800-\uDBFF]/.test(line[max - 1] ?? '') ? max - 1 : max;
  return `${line.slice(0, end)} [… line of ${line.length} characters cut here …]`;
}

function take(into: string[], from: readonly string[], bounds: TextBounds, share: number): void {
  let room = bounds.maxBytes * share;
  for (const line of from) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0 || into.length >= bounds.maxLines * share) return;
    into.push(line);
  }
}
