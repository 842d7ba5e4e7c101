import type { Metric } from 'prom-client';
import type { Counts, Histogram } from '../counters.ts';

/** One number, with what tells it from others of its name. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Where it is not the family's own: `_bucket`, `_sum`, `_count`. */
  readonly metricName?: string;
}

/** Numbers of one name, read when somebody asks. */
export interface Family {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly samples: () => readonly Sample[] | Promise<readonly Sample[]>;
}

/** Families as text. prom-client writes it and no more: its own counters would cost a look-up of labels per frame. */
export async function expose(families: readonly Family[]): Promise<{ text: string; contentType: string }> {
  // Loaded when needed: a hub starts without it.
  const { Registry } = await import('prom-client');
  const registry = new Registry();
  for (const { samples, ...family } of families) {
    const metric = { ...family, get: async () => ({ ...family, aggregator: 'sum', values: await samples() }) };
    // A registry asks its metrics for `name` and `get` alone; the types want the classes.
    registry.registerMetric(metric as unknown as Metric);
  }
  return { text: await registry.metrics(), contentType: registry.contentType };
}

/** A number without labels. */
export function single(value: number): Sample[] {
  return [{ labels: {}, value }];
}

/** One sample for each value of `label`. */
export function byLabel(label: string, counts: Counts, labels: Readonly<Record<string, string>> = {}): Sample[] {
  return [...counts.entries()].map(([name, value]) => ({ labels: { ...labels, [label]: name }, value }));
}

/** The samples of a histogram: what is at most each bound, the sum, and how many there are. */
export function ranges(name: string, { bounds, counts, sum }: Histogram, labels: Sample['labels'] = {}): Sample[] {
  let count = 0;
  const buckets = [...counts].map((inRange, index) => {
    count += inRange;
    const le = index < bounds.length ? String(bounds[index]) : '+Inf';
    return { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}
