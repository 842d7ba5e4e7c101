import { getDefaultHighWaterMark } from 'node:stream';
import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import type { OpenStorage } from './storage.ts';

/** The clocks of the hub in ms; 0 turns `silence`, `attempt`, `queue` and `forget` off. */
export interface HubClocks {
  /** No sign of life of a task. Default 5 min. */
  readonly silence: number;
  /** Longest attempt of a task that does not say otherwise. Default 30 min. */
  readonly attempt: number;
  /** A task waits while a slot is free and no agent of its role is connected. Default 10 min. */
  readonly queue: number;
  /** An offered task must be accepted within. Default 15 s. */
  readonly accept: number;
  /** Period of the WebSocket ping, spread over the connections. Default 30 s. */
  readonly ping: number;
  /** A ping must be answered within. Default 10 s. */
  readonly pong: number;
  /** A lost session may come back within and keeps its attempts. Default 30 s. */
  readonly grace: number;
  /** A cancelled task ends at the latest after. Default 10 s. */
  readonly cancelGrace: number;
  /** A connection that announced level 1 must say hello within. Default 10 s. */
  readonly hello: number;
  /** Who has a name that somebody else asks for must give a sign of life within, or loses it. Default 2 s. */
  readonly takeover: number;
  /** First back-off before a task is offered again; doubled each time up to 60 times this, full jitter. Default 1 s. */
  readonly backoffBase: number;
  /** A name that is away, for which nothing waits and that has no task, is forgotten after. Default 7 days. */
  readonly forget: number;
}

/** What one connection, one name and the hub may use. */
export interface HubLimits {
  /** Largest frame in bytes; up to `maxPayload` it is refused politely, beyond that the connection is closed with 1009. */
  readonly maxBytes: number;
  readonly maxPayload: number;
  /** Messages and bytes sent to a level-1 connection and not yet acknowledged. */
  readonly maxInflight: number;
  readonly maxInflightBytes: number;
  /** Messages and bytes that wait for one name. */
  readonly mailboxMessages: number;
  readonly mailboxBytes: number;
  /** Tasks of one owner that are not over. */
  readonly openTasks: number;
  /** Inbound messages a second, how many at once, and bytes a second; rate 0 turns all three off. */
  readonly rate: number;
  readonly burst: number;
  readonly bytesPerSecond: number;
  /**
   * Outbound bytes at which feeding stops (at least what a socket takes before it says that it drains), and at which a connection
   * without progress is closed.
   */
  readonly softBuffer: number;
  readonly hardBuffer: number;
  /** How long a connection above `hardBuffer` may stand still, in ms. */
  readonly stalledMs: number;
  readonly connections: number;
  /** Nesting of one frame's JSON, and keys at its top level. */
  readonly depth: number;
  readonly keys: number;
  /** Bad frames within 10 s that close a connection. */
  readonly badFrames: number;
  /** How long a message may wait for its recipient before it becomes a dead letter, in ms; 0 = for ever. */
  readonly mailboxTtlMs: number;
  /** Upgrades a second, and at once, of names that differ in their number only; 0 = no limit. */
  readonly upgradesPerSecond: number;
}

/** What is kept of the log; 0 or absent = everything. What waits for somebody is kept in any case. */
export interface Retention {
  /** Messages older than this many ms may go. */
  readonly ageMs?: number;
  /** Beyond this many bytes the oldest messages may go. */
  readonly bytes?: number;
}

/** How a hub is started; see the fields. */
export interface HubOptions {
  /** Address to bind. Default 127.0.0.1. */
  readonly host?: string;
  /** Port to bind, 0 = a free one. Default 8765. */
  readonly port?: number;
  /** Path of the database, or `:memory:`. */
  readonly database: string;
  /** How the store at `database` is opened. Default: SQLite. */
  readonly openStorage?: OpenStorage;
  readonly log: Log;
  /** Whether every connection needs a token. Default `none` on loopback, else `required`. */
  readonly auth?: 'none' | 'required';
  readonly clocks?: Partial<HubClocks>;
  readonly limits?: Partial<HubLimits>;
  /** Root tasks at work at once. Default 2. */
  readonly concurrency?: number;
  readonly clock?: Clock;
  /** Further names (with or without port) that a Host header may carry. */
  readonly hostNames?: readonly string[];
  /** Origins that a browser page may have. Default none. */
  readonly origins?: readonly string[];
  /** A token that allows everything, for instance one kept from an earlier start. */
  readonly token?: string;
  /** Whether `?token=` is taken, which ends up in logs of proxies. Default false. */
  readonly tokenInQuery?: boolean;
  /** What `accepted` promises to survive: the end of this process, or of the machine's power. Default `process`. */
  readonly durability?: 'process' | 'power';
  /** Version of the program that starts it: then start and orderly stop are rows of the log. Default: they are not. */
  readonly version?: string;
  /** Default: everything is kept. */
  readonly retention?: Retention;
}

export const defaultClocks: HubClocks = {
  silence: 300_000,
  attempt: 1_800_000,
  queue: 600_000,
  accept: 15_000,
  ping: 30_000,
  pong: 10_000,
  grace: 30_000,
  cancelGrace: 10_000,
  hello: 10_000,
  takeover: 2_000,
  backoffBase: 1_000,
  forget: 7 * 24 * 3_600_000,
};

export const defaultLimits: HubLimits = {
  maxBytes: 512 * 1024,
  maxPayload: 1024 * 1024,
  maxInflight: 1024,
  maxInflightBytes: 4 * 1024 * 1024,
  mailboxMessages: 10_000,
  mailboxBytes: 64 * 1024 * 1024,
  openTasks: 10_000,
  rate: 200,
  burst: 400,
  bytesPerSecond: 8 * 1024 * 1024,
  softBuffer: 1024 * 1024,
  hardBuffer: 4 * 1024 * 1024,
  stalledMs: 30_000,
  connections: 1024,
  depth: 64,
  keys: 1000,
  badFrames: 20,
  mailboxTtlMs: 24 * 3_600_000,
  upgradesPerSecond: 16,
};

/** The limits of one hub. Below a stream's own mark no `drain` ever comes, and whoever waits for it would wait for good. */
export function limitsOf(options: Partial<HubLimits> = {}): HubLimits {
  const limits = { ...defaultLimits, ...options };
  return { ...limits, softBuffer: Math.max(limits.softBuffer, getDefaultHighWaterMark(false)) };
}
