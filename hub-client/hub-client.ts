import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import type { AgentRow, Envelope, FrameOf, FrameType, TaskRow } from '../protocol/index.ts';
import type { Gap, Handler } from './inbox.ts';
import type { LogFilter } from './log-pages.ts';
import type { Outgoing } from './outgoing.ts';

export interface HubClientOptions {
  /** Where the hub is, `ws://127.0.0.1:8765`. */
  readonly url: string;
  /** Name on the hub, unique there. */
  readonly name: string;
  readonly token?: string | undefined;
  /** Roles whose tasks this client takes; default none. */
  readonly roles?: readonly string[] | undefined;
  /** Tasks at the same time; default 1. */
  readonly maxConcurrency?: number | undefined;
  /** Free text for people who look at the table of agents. */
  readonly title?: string | undefined;
  readonly log: Log;
  /** Aborting it closes the client. */
  readonly signal?: AbortSignal | undefined;
  readonly reconnect?: ReconnectOptions | undefined;
  readonly clock?: Clock | undefined;
}

export interface ReconnectOptions {
  /** The n-th wait is random below `baseMs * 2^n`; default 500. */
  readonly baseMs?: number;
  /** The longest wait, and how long a connection must last to start from `baseMs` again; default 15,000. */
  readonly capMs?: number;
  /** How long the first connection may take, all tries together; default 10,000. */
  readonly connectMs?: number;
  /** Gives up after so long without a connection; default never. */
  readonly giveUpMs?: number;
}

/** `{gap}`: frames meant for this client are lost to it; what was logged is still in the hub's log. */
export type ClientState = 'connected' | 'lost' | 'closed' | { readonly gap: Gap };

/** Which frames {@link HubClient.watch} shows. */
export type WatchFilter = NonNullable<Outgoing<'watch'>['payload']>;

/** Frame types that can be asked, with the type that answers them. */
export const answers = {
  ping: 'pong',
  who: 'who',
  tasks: 'tasks',
  log: 'log',
  route: 'route',
  'task.input': 'task.answer',
} as const satisfies { readonly [T in FrameType]?: FrameType };
export type Answers = typeof answers;

export interface AskOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An attempt that was accepted and is not over. */
export type HeldTask = FrameOf<'welcome'>['payload']['tasks'][number];

/** A program's place on the hub. It outlives connections: what is sent while there is none goes out on the next. */
export interface HubClient {
  readonly name: string;
  readonly url: string;
  readonly maxConcurrency: number;
  readonly log: Log;
  readonly clock: Clock;
  /** The hub's id of this session; a new one means that the hub forgot the old and took its tasks away. */
  readonly session: string;
  /** What this name held, by the hub's word, when it was last connected. */
  readonly held: readonly HeldTask[];
  /**
   * Resolves with the frame's id once the hub has it for good, reconnects included (same id, so the hub takes it once).
   * Rejects with `wire` when the hub refuses it ({@link wireCode} tells why) and `disconnected` when the client closed.
   */
  send<T extends FrameType>(frame: Outgoing<T>): Promise<string>;
  /** Sends a frame and waits for the one whose `ref` is its id. Rejects as `send` does, with `timeout`, or with the signal's reason. */
  ask<T extends keyof Answers>(frame: Outgoing<T>, options?: AskOptions): Promise<FrameOf<Answers[T]>>;
  /**
   * Calls `handler` for each frame of a type, from the next turn on; the frame is acknowledged when it has settled, so
   * what a crash interrupts comes again. What came before a type's first handler waits for it: all of it until the
   * client has a handler of any type (or 10 s have gone by), then the newest 16 at least.
   * Returns what takes the handler away.
   */
  on<T extends FrameType>(type: T, handler: Handler<T>): () => void;
  onState(handler: (state: ClientState) => void): () => void;
  agents(): Promise<AgentRow[]>;
  /** The task table, or the rows whose id starts with `prefix`: all of them, oldest first, page by page. */
  tasks(prefix?: string): Promise<TaskRow[]>;
  /** The log in order, up to its end at the time of the call. */
  readLog(filter?: LogFilter): AsyncIterable<Envelope>;
  /** Asks for logged frames as they come, for `on('event')`; goes on after a reconnect where it was. Once in a client's life. */
  watch(filter?: WatchFilter): Promise<void>;
  /** Milliseconds since the hub was last heard. */
  silentFor(): number;
  /**
   * Says bye, after at most a second for what is on its way and for handlers that run, whose frames are acknowledged.
   * What the hub has not accepted by then rejects; no handler is called any more.
   */
  close(): Promise<void>;
}
