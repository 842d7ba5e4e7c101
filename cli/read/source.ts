import type { AgentRow, Envelope, TaskRow } from '../../protocol/index.ts';
import type { SeenAgent } from './fold.ts';

/**
 * A piece of a log: what was committed after a position, up to one, since a time (ms since epoch), of some tasks alone; with
 * several tasks the frames of each are in order, but not those of one among those of another.
 */
export interface FrameRange {
  readonly afterLsn?: number;
  readonly uptoLsn?: number;
  readonly since?: number;
  readonly taskIds?: readonly string[];
  /** One task and those whose id goes on after a dot; not together with `taskIds`. */
  readonly tree?: string;
  /** One type of frame; where all is looked through anyway the others may be there too. */
  readonly type?: string;
  /** One sender or recipient; the same. */
  readonly agent?: string;
}

/** A hub that is up. */
export interface LiveHub {
  readonly url: string;
  /** File of the token that it was asked with, where that is one. */
  readonly tokenFile?: string | undefined;
  /** Whether it only shows the log of another hub, on which nothing moves any more. */
  readonly replay?: boolean;
  /** Who is connected; absent when it does not tell without a token. */
  readonly connected?: readonly AgentRow[];
}

/** Where a run can be looked at: its state folder, its hub, or a log file kept from it. */
export interface Source {
  /** The options that name this place to another command. */
  readonly named: string;
  /** Frames of the log, in order, up to its end at the time of the call. Those without lsn or ts count as the oldest. */
  frames(range?: FrameRange): AsyncIterable<Envelope>;
  /** The same, the newest first and of one `tree` at most; absent where a log can be read from its beginning only. */
  readonly newestFirst?: (range: Omit<FrameRange, 'taskIds'>) => AsyncIterable<Envelope>;
  /** Position of the newest frame; undefined where that is known only by reading. */
  last(): Promise<number | undefined>;
  /** Frames after a position as they come, until `signal` is aborted or the hub is gone for good. */
  follow(afterLsn: number, signal: AbortSignal): AsyncIterable<Envelope>;
  tasks(): Promise<readonly TaskRow[]>;
  agents(): Promise<readonly (AgentRow | SeenAgent)[]>;
  /** The hub that is at work there, as far as it lets itself be looked at; undefined when there is none. */
  hub(): Promise<LiveHub | undefined>;
  close(): Promise<void>;
}
