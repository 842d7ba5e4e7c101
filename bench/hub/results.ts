import type { Machine } from '../machine.ts';
import type { Cell } from './cell.ts';
import type { DurableCell } from './durable.ts';
import type { IdleFigures } from './idle.ts';
import type { QueryFigures } from './queries.ts';
import type { StalledFigures } from './stalled.ts';

/** Everything that one run of the bench measured; a part that was not asked for is empty. */
export interface Results {
  readonly machine: Machine;
  readonly quick: boolean;
  readonly relays: readonly Cell[];
  readonly durable: readonly DurableCell[];
  readonly idle: readonly IdleFigures[];
  readonly queries: readonly QueryFigures[];
  readonly stalled: readonly StalledFigures[];
}
