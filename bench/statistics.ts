/** Middle of a list of figures, and the quartiles beside it. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The value below which the share `at` (0 to 1) of the figures lies, linear between neighbours; NaN without figures. */
export function quantile(figures: Iterable<number>, at: number): number {
  const sorted = Float64Array.from(figures).sort();
  if (sorted.length === 0) return Number.NaN;
  const position = (sorted.length - 1) * at;
  const below = sorted[Math.floor(position)] as number;
  const above = sorted[Math.ceil(position)] as number;
  return below + (above - below) * (position - Math.floor(position));
}

/** Median and quartiles. */
export function spread(figures: readonly number[]): Spread {
  return { median: quantile(figures, 0.5), low: quantile(figures, 0.25), high: quantile(figures, 0.75) };
}
