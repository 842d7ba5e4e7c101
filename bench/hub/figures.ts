import { type Spread, spread } from '../statistics.ts';
import type { DurableCell, Store } from './durable.ts';
import { type Comparison, ratios } from './relay-bench.ts';
import type { Results } from './results.ts';

/** Whether a figure is what it is meant to be: the aim itself, the least that is asked for, or not even that. */
export type Verdict = 'reached' | 'target' | 'missed';

/** One figure that the hub is to reach. */
export interface Figure {
  readonly work: string;
  /** What is measured. */
  readonly what: string;
  readonly unit: '×' | 'ms' | 'MB' | '';
  /** The limit that must hold, and the one that is hoped for; `most` means that less is better. */
  readonly bound: 'least' | 'most';
  readonly target?: number;
  readonly aim?: number;
  /** Over the repetitions. */
  readonly measured: Spread;
  readonly verdict: Verdict;
}

type Goal = Omit<Figure, 'measured' | 'verdict'>;

const MB = 1024 * 1024;

/** The figures that these results say something about, judged by their medians. */
export function judge(results: Results): Figure[] {
  return [...relayGoals(results), ...durableGoals(results), ...queryGoals(results), ...roomGoals(results)].flatMap(
    ({ values, ...goal }) => {
      if (values.length === 0) return [];
      const measured = spread(values);
      return [{ ...goal, measured, verdict: verdictOf(goal, measured.median) }];
    },
  );
}

function verdictOf({ bound, target, aim }: Goal, figure: number): Verdict {
  const holds = (limit: number | undefined) =>
    limit === undefined || (bound === 'most' ? figure <= limit : figure >= limit);
  if (!holds(target)) return 'missed';
  return holds(aim) ? 'reached' : 'target';
}

type Measured = Goal & { readonly values: readonly number[] };

function relayGoals({ relays }: Results): Measured[] {
  const goal = (work: string, what: string, comparison: Comparison, target?: number, aim?: number): Measured => ({
    work,
    what,
    unit: '×',
    bound: comparison.measure === 'rate' ? 'least' : 'most',
    ...(target !== undefined && { target }),
    ...(aim !== undefined && { aim }),
    values: ratios(relays, comparison),
  });
  const flood = (variant: 'level-0' | 'level-1', bytes: number) => ({ work: 'flood', bytes, variant }) as const;
  const single = { work: 'echo 1', bytes: 256, variant: 'level-1' } as const;
  const one = 'level 1, everything on, to the original relay';
  const zero = 'level 0, log on, to the original relay';
  const recovery = (level: 0 | 1) => `level ${level} to socket.io with recovery`;
  return [
    goal(one, 'flood 256 B: CPU per message', { ...flood('level-1', 256), measure: 'cpu' }, 2, 1.5),
    goal(one, 'flood 256 B: rate', { ...flood('level-1', 256), measure: 'rate' }, 0.6, 1),
    goal(one, 'flood 4 KiB: rate', { ...flood('level-1', 4096), measure: 'rate' }, 0.6, 1),
    goal(one, 'one in flight, 256 B: CPU per message', { ...single, measure: 'cpu' }, 2.5, 1.5),
    goal(one, 'one in flight, 256 B: round trip p50', { ...single, measure: 'p50' }, 2.25, 1.5),
    goal(zero, 'flood 256 B: CPU per message', { ...flood('level-0', 256), measure: 'cpu' }, 2, 1.5),
    goal(zero, 'flood 256 B: rate', { ...flood('level-0', 256), measure: 'rate' }, 0.6, 0.9),
    ...([1, 0] as const).flatMap((level) =>
      ([256, 4096] as const).flatMap((bytes) => {
        const comparison = { ...flood(`level-${level}`, bytes), to: 'socket.io-recovery' } as const;
        const size = bytes === 256 ? '256 B' : '4 KiB';
        return [
          goal(recovery(level), `flood ${size}: CPU per message`, { ...comparison, measure: 'cpu' }, 1),
          goal(recovery(level), `flood ${size}: rate`, { ...comparison, measure: 'rate' }, 1),
        ];
      }),
    ),
    goal(
      recovery(1),
      'one in flight, 256 B: round trip p50',
      { ...single, to: 'socket.io-recovery', measure: 'p50' },
      undefined,
      1,
    ),
  ];
}

function durableGoals({ durable }: Results): Measured[] {
  const goal = (store: Store, work: string): Measured => ({
    work,
    what: 'accepted a second, 64 in flight, to JetStream publish with ack',
    unit: '×',
    bound: 'least',
    target: 2,
    aim: 3,
    values: toJetStream(durable, store),
  });
  return [goal('level-1', 'durable, nobody reads'), goal('level-1, read meanwhile', 'durable, delivered meanwhile')];
}

/** Rates of a store by JetStream's of the same repetition. */
export function toJetStream(cells: readonly DurableCell[], store: Store): number[] {
  return cells.flatMap((cell) => {
    if (cell.store !== store) return [];
    const other = cells.find(({ store, repetition }) => store === 'jetstream' && repetition === cell.repetition);
    return other === undefined ? [] : [cell.rate / other.rate];
  });
}

function queryGoals({ queries }: Results): Measured[] {
  const judged = queries.filter(({ query }) => query.startsWith('story') || query.startsWith('tail'));
  return judged.map(({ query, messages, p50 }) => ({
    work: `among ${messages.toLocaleString('en')} messages`,
    what: `${query}: p50`,
    unit: 'ms',
    bound: 'most',
    target: 20,
    aim: 5,
    values: [p50],
  }));
}

function roomGoals({ idle, stalled }: Results): Measured[] {
  const connections = `${(idle[0]?.connections ?? 0).toLocaleString('en')} idle level-1 connections`;
  const kinds = new Map(stalled.map((run) => [`${run.bytes} ${run.way}`, run]));
  return [
    {
      work: connections,
      what: 'resident memory of the hub',
      unit: 'MB',
      bound: 'most',
      target: 130,
      values: idle.map(({ after }) => after / MB),
    },
    {
      work: connections,
      what: 'longest stall while all are pinged',
      unit: 'ms',
      bound: 'most',
      target: 20,
      values: idle.map(({ stall }) => stall.wall),
    },
    ...[...kinds.values()].flatMap(({ bytes, way, sentBytes }): Measured[] => {
      const runs = stalled.filter((run) => run.way === way && run.bytes === bytes);
      const sent = `${Math.round(sentBytes / 1e6)} MB sent to it in messages of ${bytes / 1024} KiB`;
      const work = `a reader that never reads, ${sent}, then ${way}`;
      return [
        {
          work,
          what: 'growth of resident memory',
          unit: 'MB',
          bound: 'most',
          target: 32,
          values: runs.map(
            ({ before, peakStalled, peakReading }) => (Math.max(peakStalled, peakReading) - before) / MB,
          ),
        },
        {
          work,
          what: 'messages lost or out of order',
          unit: '',
          bound: 'most',
          target: 0,
          values: runs.map((run) => run.sent - run.received + (run.inOrder ? 0 : 1)),
        },
      ];
    }),
  ];
}
