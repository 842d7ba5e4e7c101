import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { type Clock, sleep, systemClock } from '../base/time.ts';
import {
  AgentName,
  type AgentRow,
  type Envelope,
  type Frame,
  type FrameOf,
  type FrameType,
  PROTOCOL_VERSION,
  type ResumePoint,
  type TaskRow,
} from '../protocol/index.ts';
import type { Connection } from './connection.ts';
import type {
  Answers,
  AskOptions,
  ClientState,
  HeldTask,
  HubClient,
  HubClientOptions,
  WatchFilter,
} from './hub-client.ts';
import { type Handler, Inbox } from './inbox.ts';
import { Link } from './link.ts';
import { type LogFilter, pageThrough } from './log-pages.ts';
import { Outbox } from './outbox.ts';
import { completeFrame, type Outgoing, type WireFrame } from './outgoing.ts';
import { Questions } from './questions.ts';
import { wireError } from './wire-error.ts';

const DRAIN_MS = 1000;

/** Connects to a hub, trying for a while; resolves after its welcome. Rejects with what the hub, or the network, said. */
export async function connectHub(options: HubClientOptions): Promise<HubClient> {
  options.signal?.throwIfAborted();
  const client = new Client(options, addressOf(options));
  await client.ready();
  return client;
}

class Client implements HubClient {
  readonly name: string;
  readonly url: string;
  readonly maxConcurrency: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly #options: HubClientOptions;
  readonly #link: Link;
  readonly #outbox = new Outbox();
  readonly #inbox: Inbox;
  readonly #questions: Questions;
  readonly #stateHandlers = new Set<(state: ClientState) => void>();
  #held: readonly HeldTask[] = [];
  #resume: Omit<ResumePoint, 'seq'> | undefined;
  #watching: { readonly filter: WatchFilter; lsn: number; running: boolean } | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HubClientOptions, address: URL) {
    this.#options = options;
    this.name = options.name;
    this.url = options.url;
    this.maxConcurrency = options.maxConcurrency ?? 1;
    this.log = options.log.child({ room: 'hub-client', agentId: options.name });
    this.clock = options.clock ?? systemClock;
    this.#questions = new Questions(this.#outbox, this.clock);
    this.#inbox = new Inbox({
      acknowledge: (seq) => this.#post({ type: 'ack', to: 'hub', payload: { seq } }),
      onGap: (gap) => this.#tell({ gap }),
      log: this.log,
      clock: this.clock,
    });
    this.#link = new Link({
      address,
      token: options.token,
      reconnect: options.reconnect ?? {},
      clock: this.clock,
      log: this.log,
      hello: () => this.#hello(),
      onWelcome: (welcome, connection) => this.#welcomed(welcome, connection),
      onFrame: (frame) => this.#receive(frame),
      onUnreadable: (seq) => this.#inbox.skip(seq),
      onLost: () => {
        this.#outbox.disconnected();
        this.#tell('lost');
      },
    });
    const abort = (): void => void this.close();
    options.signal?.addEventListener('abort', abort, { once: true });
    void this.#link.over.then((reason) => {
      options.signal?.removeEventListener('abort', abort);
      this.#over(reason);
    });
  }

  ready(): Promise<void> {
    return this.#link.first;
  }

  get session(): string {
    return this.#resume?.session ?? '';
  }

  get held(): readonly HeldTask[] {
    return this.#held;
  }

  async send<T extends FrameType>(frame: Outgoing<T>): Promise<string> {
    const complete = completeFrame(frame, this.name);
    await this.#outbox.add(complete, frame.once ? 'once' : 'durable');
    return complete.id;
  }

  async ask<T extends keyof Answers>(question: Outgoing<T>, options: AskOptions = {}): Promise<FrameOf<Answers[T]>> {
    return this.#questions.ask(question.type as T, completeFrame(question, this.name), options);
  }

  on<T extends FrameType>(type: T, handler: Handler<T>): () => void {
    return this.#inbox.on(type, handler);
  }

  onState(handler: (state: ClientState) => void): () => void {
    this.#stateHandlers.add(handler);
    return () => {
      this.#stateHandlers.delete(handler);
    };
  }

  async agents(): Promise<AgentRow[]> {
    const { payload } = await this.ask({ type: 'who', to: 'hub' });
    return payload?.agents ?? [];
  }

  async tasks(prefix?: string): Promise<TaskRow[]> {
    const rows: TaskRow[] = [];
    // A hub that knows no pages answers with all there is, and no next one.
    for (let after: string | undefined = ''; after !== undefined; ) {
      const asked: { after: string; prefix?: string } = { after, ...(prefix !== undefined && { prefix }) };
      const { payload }: FrameOf<'tasks'> = await this.ask({ type: 'tasks', to: 'hub', payload: asked });
      rows.push(...(payload?.tasks ?? []));
      after = payload?.next === after ? undefined : payload?.next;
    }
    return rows;
  }

  readLog(filter: LogFilter = {}): AsyncIterable<Envelope> {
    return pageThrough(async (page) => (await this.ask({ type: 'log', to: 'hub', payload: page })).payload, filter);
  }

  async watch(filter: WatchFilter = {}): Promise<void> {
    if (this.#watching) throw new AppError('usage', 'This client watches already.');
    const watching = { filter, lsn: filter.after_lsn ?? 0, running: false };
    this.#watching = watching;
    await this.send({ type: 'watch', to: 'hub', payload: filter });
    watching.running = true;
  }

  silentFor(): number {
    return this.#link.silentFor;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const patience = new AbortController();
    const handled = this.#inbox.close();
    await Promise.race([
      Promise.all([this.#outbox.drained(), handled]),
      sleep(DRAIN_MS, patience.signal).catch(() => {}),
    ]);
    patience.abort();
    this.#inbox.flush();
    this.#post({ type: 'bye', to: 'hub' });
    await this.#link.close();
  }

  #hello(): WireFrame {
    const { roles = [], title } = this.#options;
    const payload = {
      v: PROTOCOL_VERSION,
      roles: [...roles],
      max_concurrency: this.maxConcurrency,
      ...(title !== undefined && { title }),
      ...(this.#resume && { resume: { ...this.#resume, seq: this.#inbox.position } }),
    };
    return completeFrame({ type: 'hello', to: 'hub', payload }, this.name);
  }

  #welcomed({ payload }: FrameOf<'welcome'>, connection: Connection): void {
    const { session, resume_token, epoch, seq, resume, limits, tasks } = payload;
    this.#held = tasks;
    const otherLog = this.#resume !== undefined && this.#resume.epoch !== epoch;
    this.#resume = { session, resume_token, epoch };
    this.#inbox.welcomed(epoch, seq, resume.state === 'gap' ? resume.to : undefined);
    this.#outbox.connected({ transmit: (text) => connection.transmit(text), maxBytes: limits.max_bytes });
    this.#watchAgain(otherLog);
    this.#tell('connected');
    if (otherLog) this.#tell({ gap: { reason: 'the hub started with another log' } });
    else if (resume.state === 'gap') {
      this.#tell({ gap: { from: resume.from, to: resume.to, reason: resume.reason ?? 'the hub no longer has them' } });
    }
  }

  #watchAgain(otherLog: boolean): void {
    if (!this.#watching?.running) return;
    // in another log, positions begin anew
    if (otherLog) this.#watching.lsn = 0;
    const { filter, lsn } = this.#watching;
    const payload = lsn > 0 || otherLog ? { ...filter, after_lsn: lsn } : filter;
    this.#post({ type: 'watch', to: 'hub', payload });
  }

  #receive(frame: Frame): void {
    if (frame.type === 'accepted') {
      this.#outbox.accepted(frame.payload.upto);
      return;
    }
    if (frame.type === 'error' && this.#refuse(frame)) return;
    if (frame.type === 'event' && this.#seenBefore(frame)) return;
    this.#inbox.receive(frame, this.#questions.answered(frame));
  }

  /** Rejects what the refused frame's sender waits for; false when nobody does. */
  #refuse(frame: FrameOf<'error'>): boolean {
    const error = wireError(frame);
    const { ref = '' } = frame;
    const isAwaited = this.#questions.refused(ref, error);
    if (this.#outbox.refused(ref, error) || isAwaited) return true;
    this.log.warn({ ref, ...error.details }, 'the hub refused a frame that nobody waits for');
    return false;
  }

  #seenBefore({ payload }: FrameOf<'event'>): boolean {
    const { lsn } = payload.frame;
    if (!this.#watching || lsn === undefined) return false;
    if (lsn <= this.#watching.lsn) return true;
    this.#watching.lsn = lsn;
    return false;
  }

  #post<T extends FrameType>(frame: Outgoing<T>): void {
    this.#outbox.post(completeFrame(frame, this.name));
  }

  #over(reason: AppError): void {
    this.#outbox.fail(reason);
    this.#questions.fail(reason);
    this.#tell('closed');
  }

  #tell(state: ClientState): void {
    for (const handler of [...this.#stateHandlers]) {
      try {
        handler(state);
      } catch (error) {
        // it must not keep the others from hearing, nor this connection from going on
        this.log.error({ err: error }, 'a state handler failed');
      }
    }
  }
}

function addressOf({ url, name }: HubClientOptions): URL {
  const named = AgentName.safeParse(name);
  if (!named.success)
    throw new AppError('usage', `"${name}" cannot be a name on the hub: ${z.prettifyError(named.error)}`);
  if (!URL.canParse(url) || !/^wss?:/.test(url)) {
    throw new AppError('usage', `"${url}" is no address of a hub; it looks like ws://127.0.0.1:8765.`);
  }
  const address = new URL(url);
  address.searchParams.set('agent', name);
  address.searchParams.set('v', String(PROTOCOL_VERSION));
  return address;
}
