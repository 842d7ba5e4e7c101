import type { Agents } from './agents.ts';
import type { Connection } from './connection.ts';
import type { Metrics } from './metrics.ts';
import type { Storage } from './storage.ts';
import type { TaskTable } from './task-table.ts';

/** What can be seen of a hub from outside the protocol, and the little that can be changed. */
export interface HubView {
  readonly agents: Pick<Agents, 'get' | 'all' | 'workers'>;
  readonly tasks: Pick<TaskTable, 'live' | 'open'>;
  readonly connections: Iterable<Connection>;
  readonly storage: Omit<Storage, 'commit' | 'trim' | 'close'>;
  readonly metrics: Metrics;
  /** Whether it only shows what another hub logged. */
  readonly replay: boolean;
  /** Bytes that the store takes on disk. */
  bytes(): Promise<number>;
  /** Position of the newest committed message. */
  position(): number;
  /** Takes dead letters off the list; resolves when that is durable. */
  dropDead(lsns: readonly number[]): Promise<void>;
}

/** Whether a hub can serve: with what can be seen of it, or why not. */
export type HubState =
  | { readonly name: 'ready'; readonly view: HubView }
  | { readonly name: 'opening' | 'failed' | 'closing'; readonly reason: string };
