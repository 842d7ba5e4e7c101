import { structuredPatch } from 'diff';
import { capLine } from '../../base/cap-text.ts';

/** Lines of context around a change, and the most lines that are shown. */
const CONTEXT = 2;
const MAX_LINES = 80;

/** A unified diff of two texts, without file names, cut when it is long. */
export function showDiff(before: string, after: string): string {
  // Only the part that differs is compared: a diff of two long texts takes long.
  const old = before.split('\n');
  const now = after.split('\n');
  const shorter = Math.min(old.length, now.length);
  let front = 0;
  while (front < shorter && old[front] === now[front]) front += 1;
  let back = 0;
  while (back < shorter - front && old.at(-1 - back) === now.at(-1 - back)) back += 1;
  const first = Math.max(0, front - CONTEXT);
  const slice = (lines: string[]) => lines.slice(first, lines.length - Math.max(0, back - CONTEXT)).join('\n');
  const patch = structuredPatch('', '', `${slice(old)}\n`, `${slice(now)}\n`, undefined, undefined, {
    context: CONTEXT,
  });
  const lines = patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart + first},${hunk.oldLines} +${hunk.newStart + first},${hunk.newLines} @@`,
    ...hunk.lines.map((line) => capLine(line.replace(/\r$/, ''), 300)),
  ]);
  const shown = lines.slice(0, MAX_LINES);
  return [
    ...shown,
    ...(lines.length > MAX_LINES ? [`[… ${lines.length - MAX_LINES} lines of the diff left out …]`] : []),
  ].join('\n');
}
