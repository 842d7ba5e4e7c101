import type { Sample } from '../../base/prometheus.ts';
import type { Counts, Histogram } from '../counters.ts';

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
