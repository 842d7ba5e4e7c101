import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/time.ts';
import { CloseCode, type ErrorCode, type FrameOf, PROTOCOL_VERSION, type ResumePoint } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import { type ErrorFacts, errorFrame, hubFrame } from './answers.ts';
import { Claims } from './claims.ts';
import type { Connection } from './connection.ts';
import { Holders } from './holders.ts';
import type { HubClocks, HubLimits } from './options.ts';
import { REMEMBERED } from './recent.ts';
import { isOwn, judgeResume, type Resume } from './resume.ts';
import { sinkOf } from './sinks.ts';
import type { SessionRecord, Storage } from './storage.ts';
import type { TaskDesk } from './task-desk.ts';
import { newToken, tokenHash } from './tokens.ts';
import type { Turn } from './turn.ts';

/** What sessions work with. */
export interface SessionParts {
  readonly agents: Agents;
  readonly desk: TaskDesk;
  readonly storage: Storage;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly clocks: HubClocks;
  readonly limits: HubLimits;
  /** Position of the newest committed message. */
  readonly position: () => number;
}

/** Stands in the store in place of a session whose name level 0 has: who has its token may come back, and is not waited for. */
const levelZeros = '';

const TAKEN = 'another agent has this name';
const KEPT = 'the name is kept for the level-1 agent that had it: it may come back soon, or mail or tasks wait for it';

/** What connections say of themselves: they come, say hello or speak level 0, say goodbye, go, and may come back. */
export class Sessions {
  readonly #parts: SessionParts;
  /** The `hello` of each name that is being answered. */
  readonly #greeting = new Map<string, Promise<void>>();
  /** Connections that said hello, answered or not. */
  readonly #greeted = new WeakSet<Connection>();
  readonly #claims: Claims;
  readonly #holders: Holders;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#claims = new Claims(parts);
    this.#holders = new Holders(parts);
  }

  /**
   * Takes up the sessions of an earlier process. Each has the grace to come back, as it may have been connected until the end;
   * so have others who are `awaited`. A name that level 0 had at the end is level 0's.
   */
  async restore(records: readonly SessionRecord[], awaited: ReadonlySet<string>): Promise<void> {
    const { agents, storage } = this.#parts;
    for (const record of records) {
      const agent = agents.obtain(record.name, { scopes: [] });
      agent.level = record.session === levelZeros ? 0 : 1;
      agent.session = record;
      agent.mailbox = this.#holders.newMailbox(record.name, {
        acked: record.acked,
        ...(await storage.mailboxFacts(record.name, record.acked)),
      });
      // What was in it before and is acknowledged is not asked for.
      agent.mailbox.used = true;
      if (agent.level === 1) this.#holders.awaitReturn(agent);
    }
    for (const name of awaited) this.#holders.awaitReturn(agents.obtain(name, { scopes: [] }));
  }

  /**
   * A connection without `v=1` is level 0 until it says hello; it has the name at once, unless a session keeps it. Then it is
   * judged by its first frame, which may be hello, or after a while of silence.
   */
  opened(connection: Connection): void {
    if (connection.admission.levelOne) return;
    const { clock, clocks } = this.#parts;
    if (!this.#claims.isKept(connection.name)) this.#enter(connection);
    else connection.deadline = clock.after(clocks.takeover, () => void this.claim(connection));
  }

  /** Gives its name to a level-0 connection that does not have it yet; false when it is kept for a session, and the connection is ended with an error about `facts`. */
  async claim(connection: Connection, facts: ErrorFacts = {}): Promise<boolean> {
    undoDeadline(connection);
    const isLost = await this.#takeFromMute(connection);
    if (this.#greeted.has(connection) || this.speaker(connection) !== undefined) return true;
    if (!connection.open) return false;
    const isVacant = isLost && this.#parts.agents.get(connection.name)?.connection === undefined;
    if (!isVacant && !this.#claims.isFree(connection)) {
      const { connection: holder } = this.#parts.agents.get(connection.name) ?? {};
      refuseName(connection, facts, holder === undefined ? KEPT : TAKEN);
      return false;
    }
    this.#enter(connection);
    return true;
  }

  /**
   * Ends the holder of a name that is kept, when it gives no sign of life; true when level 0 may have the name then. What is
   * for its session alone still waits for it; else its work goes to others at once.
   */
  async #takeFromMute(connection: Connection): Promise<boolean> {
    const holder = this.#parts.agents.get(connection.name);
    if (holder?.connection === undefined || this.#claims.isFree(connection)) return false;
    const mute = await this.#claims.muteHolder(connection);
    if (mute === undefined || holder.connection !== mute) return false;
    this.#holders.letGo(holder);
    if (this.#claims.isAwaited(holder)) return false;
    this.#holders.giveUp(holder);
    return true;
  }

  /** Makes a connection the level-0 peer of its name. What waits for the name is told to it, and counts as acknowledged then. */
  #enter(connection: Connection): void {
    const { admission } = connection;
    const agent = this.#parts.agents.obtain(connection.name, admission.grant);
    if (agent.level === 1) this.#parts.desk.loseAll(agent, `${agent.name} came back without its session`);
    this.#holders.take(agent, connection);
    const { level, session, mailbox } = agent;
    if (level === 1 && session !== undefined) {
      const acked = mailbox?.acked ?? session.acked;
      this.#parts.turn.change({ kind: 'session', session: { ...session, session: levelZeros, acked } });
    }
    agent.level = 0;
    agent.roles = admission.roles;
    agent.title = undefined;
    agent.maxConcurrency = 1;
    agent.mailbox ??= this.#holders.newMailbox(agent.name);
    agent.mailbox.attach(sinkOf(connection, this.#parts.limits.softBuffer), false);
    this.#parts.desk.agentChanged(agent.name);
  }

  /** The agent that speaks through this connection; undefined when the name is another's, or hello is still to come. */
  speaker(connection: Connection): Agent | undefined {
    const agent = this.#parts.agents.get(connection.name);
    return agent?.connection === connection ? agent : undefined;
  }

  /**
   * Answers `hello` with `welcome`, or ends the connection. One at a time for each name: what is judged must still hold when
   * it is done. Whoever waits for a sign of life of the name's holder does so outside that line.
   */
  async hello(connection: Connection, frame: FrameOf<'hello'>): Promise<void> {
    undoDeadline(connection);
    this.#greeted.add(connection);
    connection.greeting = true;
    // What comes from now on is told after welcome, as level 1 is told.
    this.speaker(connection)?.mailbox?.detach();
    const { name } = connection;
    const isTaken = this.#claims.isTaken(connection, frame.payload.resume);
    const mute = isTaken ? await this.#claims.muteHolder(connection) : undefined;
    const before = this.#greeting.get(name) ?? Promise.resolve();
    const greeting = before.then(() => this.#greet(connection, frame, mute));
    const done = greeting
      .catch(() => {
        const words = 'the hub failed at this hello; come back and say it again';
        connection.greet(errorFrame(name, 'internal', words, { ref: frame.id, refType: 'hello' }));
        connection.close(CloseCode.shutdown, 'hello failed');
      })
      .then(() => {
        if (this.#greeting.get(name) === done) this.#greeting.delete(name);
      });
    this.#greeting.set(name, done);
    return greeting;
  }

  async #greet(connection: Connection, frame: FrameOf<'hello'>, mute: Connection | undefined): Promise<void> {
    const { payload } = frame;
    const { name } = connection;
    const { agents, desk } = this.#parts;
    if (payload.v !== PROTOCOL_VERSION) {
      refuse(connection, frame, 'unsupported_version', 'this hub speaks v=1');
      connection.close(CloseCode.unsupportedVersion, 'unsupported version');
      return;
    }
    const isTaken = () => this.#claims.isTaken(connection, payload.resume, mute);
    const resume = isTaken() ? undefined : await this.#judge(connection, payload.resume);
    const ids = resume === undefined || agents.get(name)?.recent.filled ? [] : await this.#recall(name);
    if (!connection.open) return;
    if (resume === undefined || isTaken()) {
      refuseName(connection, { ref: frame.id, refType: 'hello' }, TAKEN);
      return;
    }
    const agent = agents.obtain(name, connection.admission.grant);
    this.#holders.take(agent, connection);
    agent.recent.fill(ids);
    connection.level = 1;
    agent.level = 1;
    agent.roles = [...new Set([...connection.admission.roles, ...payload.roles])];
    agent.title = payload.title;
    agent.maxConcurrency = payload.max_concurrency;
    if (!resume.kept) desk.loseAll(agent, `${agent.name} came back without its session`);
    this.#welcome(agent, connection, frame, resume);
    desk.agentChanged(name);
  }

  /** What the name sent last: read when it comes, since most names never repeat anything. */
  #recall(name: string): Promise<readonly { readonly id: string; readonly lsn: number }[]> {
    return this.#parts.storage.recentIds(name, REMEMBERED);
  }

  async #judge(connection: Connection, point: ResumePoint | undefined): Promise<Resume> {
    if (point === undefined) return { state: { state: 'new' }, kept: false, own: false };
    const { agents, storage, turn } = this.#parts;
    // What is on its way into the log belongs to this judgement.
    await new Promise<void>((resolve) => turn.after(resolve));
    const agent = agents.get(connection.name);
    // Whoever shows the token of the session has the name, whatever its position turns out to be.
    const isElsewhere = agent?.connection !== connection;
    if (agent !== undefined && isElsewhere && point.epoch === storage.epoch && isOwn(agent.session, point)) {
      this.#holders.letGo(agent);
    }
    return judgeResume(agent, point, storage);
  }

  /** A connection ended: offers to it are void, its session may come back within the grace. */
  closed(connection: Connection): void {
    const agent = this.speaker(connection);
    if (agent === undefined) return;
    this.#holders.unplug(agent);
    this.#holders.awaitReturn(agent);
    this.#parts.desk.disconnected(agent);
  }

  /** Gives up a session at its own wish: its work goes back at once, and nothing is kept of a name that nothing waits for. */
  left(connection: Connection): void {
    const agent = this.speaker(connection);
    if (agent === undefined) return;
    this.#holders.unplug(agent);
    this.#parts.desk.releaseAll(agent, `${agent.name} said goodbye`);
    if (agent.session === undefined) this.#parts.agents.forget(agent.name);
    else if (isVisitor(agent)) this.forget(agent);
  }

  /** Forgets a name that is away; not while something waits for it, or it has a task. */
  forget(agent: Agent): void {
    const { agents, desk, turn } = this.#parts;
    const { name, connection, grace, mailbox, tasks } = agent;
    if (connection !== undefined || grace !== undefined || this.#greeting.has(name)) return;
    if ((mailbox?.depth ?? 0) > 0 || tasks.size > 0 || desk.table.owned(name) > 0) return;
    turn.change({ kind: 'forget_session', name });
    agents.forget(name);
  }

  /** Goes on with what a full buffer held back. */
  drained(connection: Connection): void {
    this.speaker(connection)?.mailbox?.feed();
  }

  /** Ends all waiting for lost sessions, and writes down what level 0 has read and not read. */
  stop(): void {
    for (const agent of this.#parts.agents.all()) {
      agent.grace?.cancel();
      if (agent.level === 0) this.#holders.unplug(agent);
    }
  }

  #welcome(agent: Agent, connection: Connection, frame: FrameOf<'hello'>, resume: Resume): void {
    const { storage, turn, clocks, limits, desk } = this.#parts;
    const { kept, own, state } = resume;
    const point = frame.payload.resume;
    const token = own && point !== undefined ? point.resume_token : newToken();
    const session = kept && point !== undefined ? point.session : randomUUID();
    agent.mailbox ??= this.#holders.newMailbox(agent.name);
    const { mailbox } = agent;
    agent.session = { name: agent.name, session, tokenHash: tokenHash(token), acked: mailbox.acked };
    turn.change({ kind: 'session', session: agent.session });
    turn.metrics.resumes.add(state.state);
    const payload: FrameOf<'welcome'>['payload'] = {
      v: PROTOCOL_VERSION,
      session,
      resume_token: token,
      epoch: storage.epoch,
      seq: mailbox.acked,
      features: ['tasks', 'resume', 'watch', 'log'],
      ping_ms: clocks.ping,
      pong_ms: clocks.pong,
      lease_ms: clocks.silence,
      limits: { max_bytes: limits.maxBytes, max_inflight: limits.maxInflight, rate: limits.rate, burst: limits.burst },
      resume: state,
      tasks: desk.workOf(agent),
    };
    turn.after(() => {
      connection.greet(hubFrame('welcome', agent.name, payload, frame.id === undefined ? {} : { ref: frame.id }));
      if (agent.connection === connection) mailbox.attach(sinkOf(connection, limits.softBuffer), true);
    });
  }
}

/** Somebody who came to look: it plays no role, and never sent or got a message. */
function isVisitor({ roles, recent, mailbox }: Agent): boolean {
  return roles.length === 0 && recent.empty && mailbox?.used !== true;
}

function undoDeadline(connection: Connection): void {
  connection.deadline?.cancel();
  connection.deadline = undefined;
}

function refuseName(connection: Connection, facts: ErrorFacts, words: string): void {
  connection.greet(errorFrame(connection.name, 'name_taken', words, facts));
  connection.close(CloseCode.unauthorized, 'name taken');
}

function refuse(connection: Connection, { id }: FrameOf<'hello'>, code: ErrorCode, message: string): void {
  connection.greet(errorFrame(connection.name, code, message, { ref: id, refType: 'hello' }));
}
