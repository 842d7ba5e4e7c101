/** The lines of a text that are most like the wanted ones. */
export interface ClosestBlock {
  /** Number of the first line, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
  /** Index of the first line that differs. */
  readonly differs: number;
}

/** Most comparisons that are made; a hint is not worth more. */
const MAX_WORK = 3_000_000;

/** Looks for the block that shares most lines with `wanted`, blanks aside; undefined when less than half of them. */
export function closestBlock(text: string, wanted: string): ClosestBlock | undefined {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const plain = lines.map((line) => line.trim());
  const asked = wanted
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.trim());
  const weight = asked.filter((line) => line !== '').length;
  if (weight === 0 || lines.length * asked.length > MAX_WORK) return undefined;
  let best = { at: -1, score: 0 };
  for (let at = 0; at < lines.length; at += 1) {
    let score = 0;
    for (const [offset, line] of asked.entries()) if (line !== '') score += likeness(plain[at + offset], line);
    if (score > best.score) best = { at, score };
  }
  if (best.score < weight / 2) return undefined;
  const block = lines.slice(best.at, best.at + asked.length);
  const differs = asked.findIndex((line, offset) => line !== block[offset]?.trim());
  return { line: best.at + 1, lines: block, differs: Math.max(differs, 0) };
}

/** 1 for equal lines, the shared beginning and end as a part of the longer one otherwise. */
function likeness(there: string | undefined, asked: string): number {
  if (there === undefined) return 0;
  if (there === asked) return 1;
  const shorter = Math.min(there.length, asked.length);
  let front = 0;
  while (front < shorter && there[front] === asked[front]) front += 1;
  let back = 0;
  while (back < shorter - front && there.at(-1 - back) === asked.at(-1 - back)) back += 1;
  return (0.9 * (front + back)) / Math.max(there.length, asked.length, 1);
}
