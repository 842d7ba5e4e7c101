import { clip, pad, plain, widthOf } from './width.ts';

/** Lines of a table: a head and rows, each column as wide as it needs; the last one takes what is left of `columns`. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], columns = 120): string[] {
  const cells = [head, ...rows].map((row) => row.map(plain));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const last = Math.max(10, columns - before);
  return cells.map((row) =>
    row
      .map((cell, column) => (column === head.length - 1 ? clip(cell, last) : pad(cell, widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
