import type { Cell } from './cell.ts';
import type { DurableCell } from './durable.ts';
import type { IdleFigures } from './idle.ts';
import type { QueryFigures } from './queries.ts';
import type { StalledFigures } from './stalled.ts';

/** Everything that one run of the bench measured; a part that was not asked for is empty. */
export interface Results {
  readonly machine: {
    readonly cores: number;
    readonly node: string;
    readonly system: string;
    /** Whether the measured processes had a core of their own. */
    readonly pinned: boolean;
  };
  readonly quick: boolean;
  readonly relays: readonly Cell[];
  readonly durable: readonly DurableCell[];
  readonly idle: readonly IdleFigures[];
  readonly queries: readonly QueryFigures[];
  readonly stalled: readonly StalledFigures[];
}
