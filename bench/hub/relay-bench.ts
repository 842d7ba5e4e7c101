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

/** One relay at one kind of work: its own figures, and their ratios to the first relay's of the same repetition. */
export interface RelayRow {
  readonly work: Work;
  readonly bytes: number;
  readonly variant: Variant;
  readonly own: Readonly<Partial<Record<Measure, Spread>>>;
  readonly ratio: Readonly<Partial<Record<Measure, Spread>>>;
}

export const measures = ['cpu', 'rate', 'p50', 'p99'] as const;
export type Measure = (typeof measures)[number];

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

/** Medians with quartiles, per work, size and relay, in the order of the cells. */
export function summarise(cells: readonly Cell[]): RelayRow[] {
  const groups = groupBy(cells);
  return [...groups.values()].map((group) => {
    const { work, bytes, variant } = group[0] as Cell;
    const base = new Map(
      cells
        .filter((cell) => cell.work === work && cell.bytes === bytes && cell.variant === 'original')
        .map((cell) => [cell.repetition, cell]),
    );
    const own: Partial<Record<Measure, Spread>> = {};
    const ratio: Partial<Record<Measure, Spread>> = {};
    for (const measure of measures) {
      const figures = group.flatMap((cell) => cell[measure] ?? []);
      if (figures.length > 0) own[measure] = spread(figures);
      const ratios = group.flatMap((cell) => {
        const divisor = base.get(cell.repetition)?.[measure];
        const figure = cell[measure];
        return figure === undefined || divisor === undefined ? [] : [figure / divisor];
      });
      if (ratios.length > 0) ratio[measure] = spread(ratios);
    }
    return { work, bytes, variant, own, ratio };
  });
}

function groupBy(cells: readonly Cell[]): Map<string, Cell[]> {
  const groups = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = `${cell.work} ${cell.bytes} ${cell.variant}`;
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return groups;
}
