import { inspect } from 'node:util';
import { diffLines } from 'diff';
import type { Outcome } from './run-corpus.ts';

/** A failed case, with the lines that differ: `-` was expected, `+` came. */
export function describeFailure({ id, how, note, expected, got }: Outcome): string {
  const lines = diffLines(shown(expected), shown(got)).flatMap(({ added, removed, value }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `  ${added ? '+' : removed ? '-' : ' '} ${line}`),
  );
  return [`FAILED ${id}, ${how}${note === undefined ? '' : ` (${note})`}`, ...lines, ''].join('\n');
}

function shown(value: unknown): string {
  return `${inspect(value, { depth: 20, compact: false, sorted: true, maxStringLength: 2000, breakLength: 110 })}\n`;
}
