import type { Log } from '../base/log.ts';
import type { TaskSubState } from '../protocol/index.ts';

/** One message on its way into the log: what its frame says, but for `box`, and the frame. A store may keep the frame alone. */
export interface LogRow {
  readonly type: string;
  readonly from: string;
  readonly to: string;
  /** Name whose mailbox the message goes to; null when nobody waits for it. */
  readonly box: string | null;
  readonly taskId: string;
  readonly id: string;
  readonly attempt: number | null;
  /** The whole frame as JSON, UTF-8, but for what the hub adds when it hands it on: lsn, ts, seq, prev, redelivered. */
  readonly body: Buffer;
}

/** A message in the log; `ts` is the time of its commit, ms since epoch. */
export interface StoredMessage extends LogRow {
  readonly lsn: number;
  readonly ts: number;
  /** Its bytes cannot be read any more: what is told here is the hub's word about it, in its place. */
  readonly damaged?: true;
}

/** A row of the task table; times are ms since epoch. */
export interface TaskRecord {
  readonly taskId: string;
  readonly owner: string;
  /** Name or `role:R`; empty for a task that is registered and not assigned. */
  readonly target: string;
  readonly subState: TaskSubState;
  /** Number of the attempt at work, or of the last one. */
  readonly attempt: number;
  /** Attempts that ended by silence, time or loss. */
  readonly losses: number;
  readonly agent: string | null;
  /** Session that holds the attempt; null for a level-0 agent. */
  readonly session: string | null;
  readonly reason: string | null;
  readonly parent: string | null;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly silenceMs: number;
  readonly attemptMs: number;
  /** Id of the frame that assigned it, of the result that ended it. */
  readonly assignId: string | null;
  readonly resultId: string | null;
  /** When this attempt ends at the latest; null while it has no end or its clock stands still. */
  readonly deadline: number | null;
  readonly summary: string | null;
  readonly created: number;
  readonly updated: number;
}

/** A name that has spoken level 1, and how far its mailbox is acknowledged. */
export interface SessionRecord {
  readonly name: string;
  /** Its id; empty when level 0 has the name since. */
  readonly session: string;
  readonly tokenHash: string;
  readonly acked: number;
}

/** One effect of a commit; all of a commit happen or none. */
export type Change =
  | { readonly kind: 'message'; readonly row: LogRow }
  | {
      readonly kind: 'task';
      readonly task: TaskRecord;
      /** Where the row must stand before; null: it must not exist. Anything else fails the commit. */
      readonly expect: { readonly attempt: number; readonly subState: TaskSubState } | null;
    }
  /** What an attempt leaves for the next one, as JSON. A task that is over, and one that there is not, have none. */
  | { readonly kind: 'checkpoint'; readonly taskId: string; readonly checkpoint: string }
  | { readonly kind: 'session'; readonly session: SessionRecord }
  /** Forgets a name and its cursor; what waits in its mailbox waits for nobody any more. */
  | { readonly kind: 'forget_session'; readonly name: string }
  | { readonly kind: 'cursor'; readonly name: string; readonly acked: number }
  /** Makes dead letters of the messages in the mailbox of `box` after `after`, up to and with `upto`. */
  | {
      readonly kind: 'dead';
      readonly box: string;
      readonly after: number;
      readonly upto: number;
      readonly reason: string;
    }
  /** Takes dead letters off the list; the log keeps the messages. */
  | { readonly kind: 'drop_dead'; readonly lsns: readonly number[] };

/** Which messages of the log. */
export interface LogFilter {
  readonly taskId?: string;
  /** Also tasks whose id continues `taskId` after a dot. */
  readonly tree?: boolean;
  /** Type of the message; one that no frame has is that of the event in a `task.event`. */
  readonly type?: string;
  /** Sender, or name the message was for. */
  readonly agent?: string;
}

/** A piece of the log; `next` is where to go on, absent at the end. A piece may be empty and still have one. */
export interface LogPage {
  readonly messages: readonly StoredMessage[];
  readonly next?: number;
}

/** Which tasks. */
export interface TaskFilter {
  /** Tasks whose id starts with this. */
  readonly prefix?: string;
  /** Only tasks that are not over. */
  readonly open?: boolean;
  /** Only tasks that stand at one of these. */
  readonly states?: readonly TaskSubState[];
  /** Only so many, those made last. */
  readonly newest?: number;
  /** Only those that come before this one in the order of the table. */
  readonly before?: Pick<TaskRecord, 'taskId' | 'created'>;
  /** Only those that come after this one in the order of the table. */
  readonly after?: Pick<TaskRecord, 'taskId' | 'created'>;
  /** Only so many, those made first; not together with `newest`. */
  readonly first?: number;
}

/** A message that was never handed over. */
export interface DeadLetter {
  readonly lsn: number;
  /** Name whose mailbox it was in. */
  readonly box: string;
  readonly reason: string;
  /** When it was given up, ms since epoch. */
  readonly diedAt: number;
  readonly message: StoredMessage;
}

/** What is to be deleted of the log. What waits in a mailbox, is a dead letter, or belongs to a task that is not over stays. */
export interface Retention {
  /** Messages committed before this time, ms since epoch. */
  readonly before?: number;
  /** The oldest messages, until the store takes at most this many bytes. */
  readonly maxBytes?: number;
  /** What waits in mailboxes that no session tells of: the messages of `box` after a position stay. */
  readonly waiting?: readonly { readonly box: string; readonly after: number }[];
}

/** What waits for one name: messages and bytes after a position, and the position of the newest. */
export interface MailboxFacts {
  readonly depth: number;
  readonly bytes: number;
  readonly last: number;
}

/**
 * Where the hub keeps what must survive: one writer, numbers of the log strictly increasing, a commit durable when it resolves. Reads may
 * see a commit before it resolves. A message that cannot be read is reported, and comes as one that is `damaged`; no read fails for it.
 */
export interface Storage {
  /** Changes when the store is another one, so that positions of the old one are recognised as such. */
  readonly epoch: string;
  /** Writes all changes in one transaction at time `ts`, or none and rejects; resolves to the log positions of its messages, in order. */
  commit(changes: readonly Change[], ts: number): Promise<readonly number[]>;
  /** Position of the newest message ever committed, also when it was trimmed since; 0 = there was none. */
  lastLsn(): Promise<number>;
  /** Position of the newest message committed at or before `ts`; 0 = there is none. */
  positionAt(ts: number): Promise<number>;
  /** Messages after `afterLsn` in log order, at most `limit` of them and about `maxBytes`. */
  tail(filter: LogFilter, afterLsn: number, limit: number, maxBytes: number): Promise<LogPage>;
  /**
   * The newest messages, those before `beforeLsn` when it is given, in log order: at most `count` of them, and fewer only when
   * there are no more or they take `maxBytes` (default: no bound) or more.
   */
  latest(filter: LogFilter, count: number, beforeLsn?: number, maxBytes?: number): Promise<readonly StoredMessage[]>;
  /** The first message of a task with this id. */
  byTask(taskId: string, id: string): Promise<StoredMessage | undefined>;
  /** The message at this position. */
  at(lsn: number): Promise<StoredMessage | undefined>;
  /** The next messages of a mailbox in log order: at most `limit`, fewer when they are large, none only when there are none. */
  mailbox(box: string, afterLsn: number, limit: number): Promise<readonly StoredMessage[]>;
  mailboxFacts(box: string, afterLsn: number): Promise<MailboxFacts>;
  /** Id and position of the last `count` messages of a sender, oldest first. */
  recentIds(from: string, count: number): Promise<readonly { readonly id: string; readonly lsn: number }[]>;
  task(taskId: string): Promise<TaskRecord | undefined>;
  /** What the last attempt of a task left; it may be as large as a frame, and is in no row of the table. */
  checkpoint(taskId: string): Promise<string | undefined>;
  /** Rows of the task table, oldest first; those made at the same time by their ids. */
  tasks(filter: TaskFilter): Promise<readonly TaskRecord[]>;
  sessions(): Promise<readonly SessionRecord[]>;
  /** Dead letters after a position, in log order: at most `limit`, fewer when they are large, none only when there are none. */
  deadLetters(afterLsn: number, limit: number): Promise<readonly DeadLetter[]>;
  /** Whether the message at this position ever became a dead letter, dropped since or not; until it is trimmed. */
  wasGivenUp(lsn: number): Promise<boolean>;
  /** Deletes old messages, in small pieces; resolves to how many went. */
  trim(retention: Retention): Promise<number>;
  close(): Promise<void>;
}

/** How a store is opened. */
export interface StorageOptions {
  /** What a commit survives: the end of the process, or of the machine's power too. Default `process`. */
  readonly durability?: 'process' | 'power';
  /** Hears what takes long, such as bringing an old store to a new form. */
  readonly log?: Log;
}

/** Opens a store, or makes it; a damaged one is moved to `setAside` and a new one begun. */
export type OpenStorage = (path: string, options?: StorageOptions) => Promise<{ storage: Storage; setAside?: string }>;
