const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** A time for people: `5m`, `90s`, `250ms`; in the largest unit that leaves no rest. */
export function inWords(ms: number): string {
  const [unit, factor] = units.find(([, size]) => ms > 0 && ms % size === 0) ?? ['ms', 1];
  return `${ms / factor}${unit}`;
}
