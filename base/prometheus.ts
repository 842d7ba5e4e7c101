import type { Metric } from 'prom-client';

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
  // Loaded when needed: most processes are never asked.
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
