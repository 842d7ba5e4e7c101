/** Numbers by one label, whose values must be few. */
export class Counts {
  readonly #values = new Map<string, { count: number }>();

  add(label: string, by = 1): void {
    const value = this.#values.get(label);
    if (value === undefined) this.#values.set(label, { count: by });
    else value.count += by;
  }

  *entries(): Iterable<[string, number]> {
    for (const [label, { count }] of this.#values) yield [label, count];
  }
}

/** How often a value fell into which of a few fixed ranges. */
export class Histogram {
  /** Upper ends of the ranges, rising; above the last there is one more. */
  readonly bounds: readonly number[];
  /** One number per range, not added up. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number, times = 1): void {
    const { bounds, counts } = this;
    let range = 0;
    while (range < bounds.length && value > (bounds[range] as number)) range += 1;
    counts[range] = (counts[range] as number) + times;
    this.sum += value * times;
  }
}
