import type { TaskSubState } from '../protocol/index.ts';

/** One message on its way into the log. `body` is the whole frame as JSON but for what the hub adds: lsn, ts, seq, prev. */
export interface LogRow {
  readonly type: string;
  readonly from: string;
  readonly to: string;
  /** Name whose mailbox the message goes to; null when nobody waits for it. */
  readonly box: string | null;
  readonly taskId: string;
  readonly id: string;
  readonly attempt: number | null;
  /** Size of the body. */
  readonly bytes: number;
  readonly body: string;
}

/** A message in the log. */
export interface StoredMessage extends LogRow {
  readonly lsn: number;
  readonly ts: number;
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
  /** What the last attempt left, as JSON. */
  readonly checkpoint: string | null;
  readonly summary: string | null;
  readonly created: number;
  readonly updated: number;
}

/** A name that has spoken level 1, and how far its mailbox is acknowledged. */
export interface SessionRecord {
  readonly name: string;
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
  | { readonly kind: 'session'; readonly session: SessionRecord }
  | { readonly kind: 'cursor'; readonly name: string; readonly acked: number };

/** Which messages of the log. */
export interface LogFilter {
  readonly taskId?: string;
  /** Also tasks whose id continues `taskId` after a dot. */
  readonly tree?: boolean;
  readonly type?: string;
  /** Sender, or name the message was for. */
  readonly agent?: string;
}

/** A piece of the log; `next` is where to go on, absent at the end. A piece may be empty and still have one. */
export interface LogPage {
  readonly messages: readonly StoredMessage[];
  readonly next?: number;
}

/** What waits for one name. */
export interface MailboxFacts {
  readonly depth: number;
  readonly bytes: number;
  readonly last: number;
}

/** Where the hub keeps what must survive: one writer, numbers of the log strictly increasing, a commit durable when it resolves. */
export interface Storage {
  /** Changes when the store is another one, so that positions of the old one are recognised as such. */
  readonly epoch: string;
  /** Writes all changes in one transaction at time `ts`; resolves to the log positions of its messages, in order. */
  commit(changes: readonly Change[], ts: number): Promise<readonly number[]>;
  lastLsn(): Promise<number>;
  /** Messages after `afterLsn` in log order, at most `limit` of them and about `maxBytes`. */
  tail(filter: LogFilter, afterLsn: number, limit: number, maxBytes: number): Promise<LogPage>;
  /** The message of a task with this id. */
  byTask(taskId: string, id: string): Promise<StoredMessage | undefined>;
  /** The message at this position. */
  at(lsn: number): Promise<StoredMessage | undefined>;
  mailbox(name: string, afterLsn: number, limit: number): Promise<readonly StoredMessage[]>;
  mailboxFacts(name: string, afterLsn: number): Promise<MailboxFacts>;
  /** Sender, id and position of the last `count` messages, oldest first. */
  recentIds(count: number): Promise<readonly { from: string; id: string; lsn: number }[]>;
  tasks(): Promise<readonly TaskRecord[]>;
  sessions(): Promise<readonly SessionRecord[]>;
  close(): Promise<void>;
}
