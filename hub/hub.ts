import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import { CloseCode } from '../protocol/index.ts';
import type { Admission } from './accept.ts';
import { Agents } from './agents.ts';
import { errorFrame, hubFrame } from './answers.ts';
import { Connection } from './connection.ts';
import { Heartbeat } from './heartbeat.ts';
import { readLastWords } from './last-words.ts';
import type { Metrics } from './metrics.ts';
import type { HubClocks, HubLimits, Retention } from './options.ts';
import { Post } from './post.ts';
import { Reader } from './reader.ts';
import { Router } from './router.ts';
import { Sessions } from './sessions.ts';
import { SlowReader } from './slow-reader.ts';
import type { Change, LogRow, Storage } from './storage.ts';
import { Sweeper } from './sweeper.ts';
import { TaskDesk } from './task-desk.ts';
import { isHeld } from './task-machine.ts';
import type { Grant } from './tokens.ts';
import { buryUntold, ToldCursors } from './told.ts';
import { Turn } from './turn.ts';
import type { HubView } from './view.ts';
import { Watchers } from './watchers.ts';

/** What the hub itself, without its sockets, is made from. */
export interface HubParts {
  readonly storage: Storage;
  readonly log: Log;
  readonly clock: Clock;
  readonly clocks: HubClocks;
  readonly limits: HubLimits;
  readonly concurrency: number;
  readonly retention: Retention;
  readonly metrics: Metrics;
  /** Version of the program under which start and orderly stop are logged; undefined = they are not. */
  readonly version: string | undefined;
  readonly durability: 'process' | 'power';
  /** Bytes that the store takes on disk. */
  readonly bytes: () => Promise<number>;
  /** Whether it only shows what {@link Hub.record} adds: what agents say is refused. */
  readonly replay: boolean;
  /** The hub cannot go on: what it was told is not on disk. */
  readonly failed: (error: unknown) => void;
}

/** How long a peer has to answer the close of a hub that ends, ms. */
const CLOSE_WAIT = 500;

/** The hub behind the door: takes upgraded sockets and serves them. */
export class Hub {
  readonly #parts: HubParts;
  readonly #agents = new Agents();
  readonly #turn: Turn;
  readonly #post: Post;
  readonly #desk: TaskDesk;
  readonly #sessions: Sessions;
  readonly #router: Router;
  readonly #watchers: Watchers;
  readonly #sweeper: Sweeper;
  readonly #connections = new Set<Connection>();
  readonly #told: ToldCursors;
  readonly #heartbeat: Heartbeat;
  #position = 0;
  #closing = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
    const { storage, clock, clocks, limits } = parts;
    const agents = this.#agents;
    const turn = new Turn({ ...parts, failed: (error) => this.#fail(error) });
    const position = () => this.#position;
    this.#heartbeat = new Heartbeat(clock, clocks);
    this.#told = new ToldCursors({ agents, turn, clock, position });
    const post = new Post(turn, agents, () => this.#told.moved());
    this.#post = post;
    this.#turn = turn;
    this.#desk = new TaskDesk({ ...parts, turn, post, agents });
    this.#sessions = new Sessions({ agents, desk: this.#desk, storage, turn, clock, clocks, limits, position });
    this.#sweeper = new Sweeper({ ...parts, agents, turn, sessions: this.#sessions });
    this.#watchers = new Watchers(post, storage, limits.softBuffer);
    this.#router = new Router({
      turn,
      post,
      agents,
      desk: this.#desk,
      sessions: this.#sessions,
      watchers: this.#watchers,
      storage,
      limits,
      clock,
      position,
      replay: parts.replay,
    });
    post.listen((message) => {
      this.#position = message.lsn;
    });
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** What others may look at. */
  view(): HubView {
    return {
      agents: this.#agents,
      tasks: this.#desk.table,
      connections: this.#connections,
      storage: this.#parts.storage,
      metrics: this.#parts.metrics,
      replay: this.#parts.replay,
      bytes: this.#parts.bytes,
      position: () => this.#position,
      dropDead: async (lsns) => {
        this.#turn.change({ kind: 'drop_dead', lsns });
        await this.#turn.settled();
      },
    };
  }

  /** Takes up where an earlier process on the same storage left off. */
  async restore(): Promise<void> {
    const { storage } = this.#parts;
    this.#position = await storage.lastLsn();
    const sessions = await buryUntold(storage, await storage.sessions(), this.#parts.clock.now());
    const records = await storage.tasks({ open: true });
    const awaited = records.flatMap(({ agent, owner, subState }) => [
      ...(agent !== null && isHeld(subState) ? [agent] : []),
      ...(subState === 'input_required' ? [owner] : []),
    ]);
    await this.#sessions.restore(sessions, new Set(awaited));
    this.#desk.restore(records, await readLastWords(storage, records));
    this.#sweeper.start();
    this.#note('hub.started');
    await this.#turn.settled();
  }

  /**
   * Adds what another hub logged, as it stands: nobody is told, nothing follows from it, and only who watches hears of it.
   * Resolves when it is durable.
   */
  async record(rows: readonly LogRow[], changes: readonly Extract<Change, { kind: 'task' }>[]): Promise<void> {
    for (const row of rows) this.#post.record(row);
    for (const change of changes) this.#turn.change(change);
    await this.#turn.settled();
  }

  /** Serves a socket until it closes. */
  serve(socket: WebSocket, stream: Socket, admission: Admission): void {
    const { clock, limits, log } = this.#parts;
    const connection = new Connection(admission, socket, stream, this.#turn);
    const reader = new Reader(connection, this.#router, { clock, limits, log });
    const pulse = this.#heartbeat.add(connection);
    const slow = new SlowReader(connection, stream, limits);
    connection.onFlush = () => slow.check();
    connection.deadline = admission.levelOne ? this.#expectHello(connection) : undefined;
    this.#connections.add(connection);
    socket.on('message', (data, isBinary) => reader.read(data as Buffer, isBinary));
    // Without a listener a peer's broken frame would end the process; 'close' follows.
    socket.on('error', (error) => log.debug({ name: connection.name, error: error.message }, 'socket error'));
    stream.on('drain', () => {
      slow.drained();
      reader.goOn();
      this.#sessions.drained(connection);
      this.#watchers.drained(connection);
    });
    socket.on('close', (code) => {
      this.#heartbeat.remove(pulse);
      connection.deadline?.cancel();
      this.#connections.delete(connection);
      this.#watchers.remove(connection);
      this.#parts.metrics.disconnected(code);
      reader.end(() => {
        // When the hub itself ends, work stays with those who have it: they come back to the next one.
        if (!this.#closing) this.#sessions.closed(connection);
      });
      log.debug({ name: connection.name, code }, 'connection closed');
    });
    this.#sessions.opened(connection);
  }

  /** Ends the connections that were admitted by `grant`. */
  evict(grant: Grant): void {
    for (const connection of this.#connections) {
      if (connection.admission.grant === grant) connection.close(CloseCode.unauthorized, 'the token was taken back');
    }
  }

  /** Says goodbye to everybody and waits until all is written. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#sweeper.stop();
    this.#desk.stop();
    this.#sessions.stop();
    this.#told.stop();
    this.#note('hub.stopped');
    for (const connection of this.#connections) {
      connection.send(hubFrame('bye', connection.name, { reason: 'shutdown', retry_after_ms: 1000 }));
      connection.close(CloseCode.shutdown, 'shutdown');
    }
    await this.#turn.settled();
    await this.#emptied(CLOSE_WAIT);
    await this.#parts.storage.close();
  }

  #note(type: string): void {
    const { version, durability, storage } = this.#parts;
    if (version !== undefined) this.#post.note(type, { version, epoch: storage.epoch, durability });
  }

  /** What was promised cannot be kept: nobody is told anything any more, and everybody comes back to a hub that knows. */
  #fail(error: unknown): void {
    this.#parts.log.fatal({ err: error }, 'the log cannot be written');
    for (const connection of this.#connections) connection.cut(CloseCode.shutdown, 'the log cannot be written');
    this.#parts.failed(error);
  }

  /** Waits until all sockets are closed, and ends those that are not after `ms`. */
  async #emptied(ms: number): Promise<void> {
    const closed = [...this.#connections].map(({ socket }) => once(socket, 'close'));
    const late = this.#parts.clock.after(ms, () => {
      for (const connection of this.#connections) connection.terminate();
    });
    await Promise.all(closed);
    late.cancel();
  }

  #expectHello(connection: Connection): { cancel(): void } {
    return this.#parts.clock.after(this.#parts.clocks.hello, () => {
      if (connection.level === 1) return;
      connection.send(errorFrame(connection.name, 'timeout', 'v=1 was announced and no hello came'));
      connection.close(CloseCode.helloMissing, 'hello missing');
    });
  }
}
