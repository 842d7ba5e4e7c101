import type { Spread } from './statistics.ts';

/** Rows as a Markdown table whose columns line up, so that it reads well in a terminal too. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Bytes as MiB. */
export function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

/** `1.2–1.4`. */
export function quartiles({ low, high }: Spread): string {
  return `${short(low)}–${short(high)}`;
}

/** Three digits that mean something; nothing for a figure that is not there. */
export function short(value: number | undefined): string {
  if (value === undefined) return '';
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}
