import type { Children } from '../children.ts';
import { type Spread, spread } from '../statistics.ts';
import { type Cell, type CellSize, measureCell, type Work } from './cell.ts';
import type { Variant } from './variants/relay.ts';

/** Frame sizes that are measured, bytes. */
export const sizes = [256, 4096] as const;

/** Which relays do what, and how often. */
export interface RelayPlan {
  readonly variants: readonly Variant[];
  readonly works: readonly Work[];
  readonly sizes: readonly number[];
  readonly repetitions: number;
  readonly size: CellSize;
  readonly profile?: string | undefined;
}

/** What can be compared: CPU per message, messages a second, round trips. */
export const measures = ['cpu', 'rate', 'p50', 'p99'] as const;
export type Measure = (typeof measures)[number];

/** One relay at one kind of work: its own figures, and their ratios to the original relay's. */
export interface RelayRow {
  readonly work: Work;
  readonly bytes: number;
  readonly variant: Variant;
  readonly own: Readonly<Partial<Record<Measure, Spread>>>;
  readonly ratio: Readonly<Partial<Record<Measure, Spread>>>;
}

/** Measures all cells: for each repetition and size, all relays one after the other. */
export async function benchRelays(children: Children, plan: RelayPlan, say: (line: string) => void): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (let repetition = 1; repetition <= plan.repetitions; repetition += 1) {
    for (const bytes of plan.sizes) {
      for (const variant of plan.variants) {
        const { works, size, profile } = plan;
        const done = await measureCell(children, { variant, bytes, repetition, works, size, profile });
        cells.push(...done);
        const figures = done.map(({ work, cpu, rate }) => `${work} ${cpu.toFixed(1)} µs ${Math.round(rate)}/s`);
        say(`${repetition}/${plan.repetitions} ${bytes} B ${variant}: ${figures.join(', ')}`);
      }
    }
  }
  return cells;
}

/** Which cells are compared with which. */
export interface Comparison {
  readonly work: Work;
  readonly bytes: number;
  readonly variant: Variant;
  /** Default: the original relay. */
  readonly to?: Variant;
  readonly measure: Measure;
}

/** One ratio per repetition: a relay's figure by another one's of the same repetition. */
export function ratios(
  cells: readonly Cell[],
  { work, bytes, variant, to = 'original', measure }: Comparison,
): number[] {
  const same = cells.filter((cell) => cell.work === work && cell.bytes === bytes);
  return same.flatMap((cell) => {
    if (cell.variant !== variant) return [];
    const base = same.find((other) => other.variant === to && other.repetition === cell.repetition);
    const [figure, divisor] = [cell[measure], base?.[measure]];
    return figure === undefined || divisor === undefined ? [] : [figure / divisor];
  });
}

/** Medians with quartiles, per work, size and relay, in the order in which they were measured. */
export function summarise(cells: readonly Cell[]): RelayRow[] {
  const rows = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = [cell.work, cell.bytes, cell.variant].join();
    rows.set(key, [...(rows.get(key) ?? []), cell]);
  }
  return [...rows.values()].map((group) => {
    const { work, bytes, variant } = group[0] as Cell;
    return {
      work,
      bytes,
      variant,
      own: spreads((measure) => group.flatMap((cell) => cell[measure] ?? [])),
      ratio: spreads((measure) => ratios(cells, { work, bytes, variant, measure })),
    };
  });
}

function spreads(figures: (measure: Measure) => number[]): Partial<Record<Measure, Spread>> {
  return Object.fromEntries(
    measures.flatMap((measure) => {
      const list = figures(measure);
      return list.length === 0 ? [] : [[measure, spread(list)]];
    }),
  );
}
