import type { HubClocks, HubLimits } from './options.ts';

/** How one limit or clock of the hub is set from outside. */
export interface Setting {
  /** Its flag, without the dashes. */
  readonly flag: string;
  readonly unit: 'count' | 'bytes' | 'ms';
  readonly min: number;
  readonly max: number;
  /** What 0 means, where `min` is above it and 0 is allowed all the same. */
  readonly zero?: string;
  readonly help: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function count(flag: string, [min, max]: [number, number], help: string, zero?: string): Setting {
  return { flag, unit: 'count', min, max, help, ...(zero !== undefined && { zero }) };
}

function bytes(flag: string, [min, max]: [number, number], help: string, zero?: string): Setting {
  return { flag, unit: 'bytes', min, max, help, ...(zero !== undefined && { zero }) };
}

function time(flag: string, [min, max]: [number, number], help: string, zero?: string): Setting {
  return { flag, unit: 'ms', min, max, help, ...(zero !== undefined && { zero }) };
}

/** Every limit of the hub. */
export const limitSettings: { readonly [K in keyof HubLimits]: Setting } = {
  maxBytes: bytes('max-bytes', [KIB, 15 * MIB], 'largest frame; a larger one is refused with too_large'),
  maxPayload: bytes('max-payload', [KIB, 16 * MIB], 'frame at which a connection is closed, with 1009'),
  maxInflight: count('max-inflight', [1, 100_000], 'messages handed to an agent and not acknowledged'),
  maxInflightBytes: bytes('max-inflight-bytes', [KIB, GIB], 'bytes handed to an agent and not acknowledged'),
  mailboxMessages: count('mailbox-messages', [1, 10_000_000], 'messages that may wait for one name'),
  mailboxBytes: bytes('mailbox-bytes', [KIB, 64 * GIB], 'bytes that may wait for one name'),
  openTasks: count('open-tasks', [1, 10_000_000], 'tasks of one owner that are not over'),
  rate: count('rate', [1, 1_000_000], 'frames a second that one connection may send', 'no limit on frames and bytes'),
  burst: count('burst', [1, 1_000_000], 'frames that one connection may send at once'),
  bytesPerSecond: bytes('bytes-per-second', [KIB, 16 * GIB], 'bytes a second that one connection may send'),
  softBuffer: bytes('soft-buffer', [KIB, GIB], 'unread bytes of a connection at which it is fed no more'),
  hardBuffer: bytes('hard-buffer', [KIB, GIB], 'unread bytes of a connection at which it is watched'),
  stalledMs: time('stalled', [100, HOUR], 'how long a watched connection may read nothing before it is closed'),
  connections: count('connections', [1, 1_000_000], 'open connections'),
  depth: count('depth', [1, 1000], 'nesting of the JSON of a frame'),
  keys: count('keys', [5, 100_000], 'keys at the top of a frame'),
  badFrames: count('bad-frames', [1, 10_000], 'bad frames within 10 s that close a connection'),
  mailboxTtlMs: time(
    'mailbox-ttl',
    [SECOND, 365 * DAY],
    'how long a message waits before it is a dead letter',
    'for ever',
  ),
  upgradesPerSecond: count(
    'upgrades-per-second',
    [1, 100_000],
    'connections a second under names that differ in their number only',
    'no limit',
  ),
};

/** Every clock of the hub. */
export const clockSettings: { readonly [K in keyof HubClocks]: Setting } = {
  silence: time('silence-timeout', [10, DAY], 'a worker must give a sign of life within', 'off'),
  attempt: time('attempt-timeout', [10, 30 * DAY], 'longest attempt of a task that does not say otherwise', 'off'),
  queue: time('queue-timeout', [10, 30 * DAY], 'how long a task waits while nobody of its role is there', 'off'),
  accept: time('accept-timeout', [10, HOUR], 'a task that is offered must be accepted within'),
  ping: time('ping-every', [10, HOUR], 'time between two pings of a connection'),
  pong: time('pong-timeout', [10, HOUR], 'a ping must be answered within'),
  grace: time('grace', [10, DAY], 'a lost connection may come back and keep its work within'),
  cancelGrace: time('cancel-grace', [10, HOUR], 'a cancelled task ends at the latest after'),
  forget: time(
    'forget',
    [MINUTE, 3650 * DAY],
    'how long a name is kept that is away and for which nothing waits',
    'for ever',
  ),
  hello: time('hello-timeout', [10, HOUR], 'a connection must say what it wants within'),
  takeover: time('takeover', [10, MINUTE], 'who has a name that another asks for must give a sign of life within'),
  backoffBase: time('backoff', [1, HOUR], 'first pause before a task is offered again, doubled each time'),
};
