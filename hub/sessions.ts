import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/time.ts';
import { CloseCode, type FrameOf, PROTOCOL_VERSION } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import { errorFrame, hubFrame } from './answers.ts';
import type { Connection } from './connection.ts';
import { Mailbox } from './mailbox.ts';
import type { HubClocks, HubLimits } from './options.ts';
import { sinkOf } from './post.ts';
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

type Resume = FrameOf<'welcome'>['payload']['resume'];

/** Bytes of a mailbox kept in memory beside its inflight window. */
const MEMORY = 1024 * 1024;

/** Who holds which name: connections come, say hello, are replaced, go, and may come back. */
export class Sessions {
  readonly #parts: SessionParts;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Takes up the sessions of an earlier process; whoever held work has the grace to come back. */
  async restore(records: readonly SessionRecord[], holders: ReadonlySet<string>): Promise<void> {
    const { agents, storage } = this.#parts;
    for (const record of records) {
      const agent = agents.obtain(record.name, { scopes: [] });
      agent.level = 1;
      agent.session = record;
      agent.mailbox = this.#newMailbox(record.name, {
        acked: record.acked,
        ...(await storage.mailboxFacts(record.name, record.acked)),
      });
    }
    for (const name of holders) this.#awaitReturn(agents.obtain(name, { scopes: [] }));
  }

  /** A connection without `v=1` is level 0 until it says hello; it has the name at once unless a level-1 peer holds it. */
  opened(connection: Connection): void {
    const { admission } = connection;
    if (admission.levelOne) return;
    const holder = this.#parts.agents.get(connection.name);
    if (holder?.connection !== undefined && holder.level === 1) return;
    const agent = this.#parts.agents.obtain(connection.name, admission.grant);
    if (agent.level === 1) this.#parts.desk.loseAll(agent, `${agent.name} came back without its session`);
    this.#replace(agent, connection);
    agent.level = 0;
    agent.roles = admission.roles;
    agent.title = undefined;
    agent.maxConcurrency = 1;
    const from = this.#parts.position();
    agent.live = this.#newMailbox(agent.name, { acked: from, depth: 0, bytes: 0, last: from });
    agent.live.attach(sinkOf(connection, this.#parts.limits.softBuffer), from, false);
    this.#parts.desk.schedule();
  }

  /** The agent that speaks through this connection; undefined when the name is another's, or hello is still to come. */
  speaker(connection: Connection): Agent | undefined {
    const agent = this.#parts.agents.get(connection.name);
    return agent?.connection === connection ? agent : undefined;
  }

  /** Answers `hello` with `welcome`, or ends the connection. */
  async hello(connection: Connection, frame: FrameOf<'hello'>): Promise<void> {
    const { payload, id } = frame;
    if (payload.v !== PROTOCOL_VERSION) {
      connection.send(
        errorFrame(connection.name, 'unsupported_version', 'this hub speaks v=1', { ref: id, refType: 'hello' }),
      );
      connection.close(CloseCode.unsupportedVersion, 'unsupported version');
      return;
    }
    const { agents, desk } = this.#parts;
    const known = agents.get(connection.name);
    const returns = known?.session !== undefined && isOwn(known.session, payload.resume);
    const held = known?.connection !== undefined && known.connection !== connection;
    if (held && !returns && connection.admission.grant.agent !== connection.name) {
      connection.send(
        errorFrame(connection.name, 'name_taken', 'another agent has this name', { ref: id, refType: 'hello' }),
      );
      connection.close(CloseCode.unauthorized, 'name taken');
      return;
    }
    const agent = agents.obtain(connection.name, connection.admission.grant);
    const resume = await this.#judge(agent, payload.resume, returns);
    if (!connection.open) return;
    this.#replace(agent, connection);
    connection.level = 1;
    agent.level = 1;
    agent.live = undefined;
    agent.roles = [...new Set([...connection.admission.roles, ...payload.roles])];
    agent.title = payload.title;
    agent.maxConcurrency = payload.max_concurrency;
    if (resume.state !== 'recovered') desk.loseAll(agent, `${agent.name} came back without its session`);
    this.#welcome(agent, connection, frame, resume);
    desk.schedule();
  }

  /** A connection ended: offers to it are void, its session may come back within the grace. */
  closed(connection: Connection): void {
    const agent = this.speaker(connection);
    if (agent === undefined) return;
    this.#unplug(agent);
    this.#awaitReturn(agent);
    this.#parts.desk.disconnected(agent);
  }

  /** Gives up a session at its own wish: its work goes back at once. */
  left(connection: Connection): void {
    const agent = this.speaker(connection);
    if (agent === undefined) return;
    this.#unplug(agent);
    this.#parts.desk.releaseAll(agent, `${agent.name} said goodbye`);
    if (agent.session === undefined) this.#parts.agents.forget(agent.name);
  }

  /** Goes on with what a full buffer held back. */
  drained(connection: Connection): void {
    const agent = this.speaker(connection);
    agent?.mailbox?.feed();
    agent?.live?.feed();
  }

  stop(): void {
    for (const agent of this.#parts.agents.all()) agent.grace?.cancel();
  }

  #welcome(agent: Agent, connection: Connection, frame: FrameOf<'hello'>, resume: Resume): void {
    const { storage, turn, clocks, limits, position } = this.#parts;
    const point = frame.payload.resume;
    const same = resume.state === 'recovered' && point !== undefined;
    const token = same ? point.resume_token : newToken();
    const session = same ? point.session : randomUUID();
    agent.mailbox ??= this.#newMailbox(agent.name, { acked: position(), depth: 0, bytes: 0, last: 0 });
    const { mailbox } = agent;
    agent.session = { name: agent.name, session, tokenHash: tokenHash(token), acked: mailbox.acked };
    turn.change({ kind: 'session', session: agent.session });
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
      resume,
    };
    turn.after(() => {
      connection.send(hubFrame('welcome', agent.name, payload, frame.id === undefined ? {} : { ref: frame.id }));
      if (agent.connection === connection) mailbox.attach(sinkOf(connection, limits.softBuffer), mailbox.acked, true);
    });
  }

  /** Whether a session goes on where it stood, or something lies between; moves its mailbox to where the client stands. */
  async #judge(agent: Agent, point: FrameOf<'hello'>['payload']['resume'], returns: boolean): Promise<Resume> {
    if (point === undefined) return { state: 'new' };
    const { storage } = this.#parts;
    const { mailbox } = agent;
    const gap = (reason: string): Resume => ({ state: 'gap', from: point.seq, to: mailbox?.last ?? 0, reason });
    if (point.epoch !== storage.epoch) return gap('the log is another one');
    if (!returns || mailbox === undefined) return gap('the session is not known');
    const left = await storage.mailboxFacts(agent.name, point.seq);
    if (point.seq <= mailbox.acked) {
      return left.depth === mailbox.depth
        ? { state: 'recovered' }
        : gap('messages after this position were acknowledged');
    }
    if ((await storage.at(point.seq))?.box !== agent.name) return gap('the position is not of this mailbox');
    mailbox.jump(point.seq, left);
    return { state: 'recovered' };
  }

  #replace(agent: Agent, connection: Connection): void {
    const old = agent.connection;
    if (old !== undefined && old !== connection) {
      this.#unplug(agent);
      this.#parts.desk.disconnected(agent);
      old.close(CloseCode.replaced, 'another connection has the name now');
    }
    agent.grace?.cancel();
    agent.grace = undefined;
    agent.grant = connection.admission.grant;
    agent.connection = connection;
    agent.connectedAt = this.#parts.clock.now();
    agent.lastSeen = agent.connectedAt;
  }

  #unplug(agent: Agent): void {
    agent.connection = undefined;
    agent.live = undefined;
    agent.mailbox?.detach();
  }

  #awaitReturn(agent: Agent): void {
    agent.grace?.cancel();
    agent.grace = this.#parts.clock.after(this.#parts.clocks.grace, () => {
      agent.grace = undefined;
      this.#parts.desk.loseAll(agent, `${agent.name} did not come back`);
      if (agent.session === undefined && agent.tasks.size === 0) this.#parts.agents.forget(agent.name);
    });
  }

  #newMailbox(name: string, state: { acked: number; depth: number; bytes: number; last: number }): Mailbox {
    const { maxInflight, maxInflightBytes } = this.#parts.limits;
    return new Mailbox(name, state, this.#parts.storage, { maxInflight, maxInflightBytes, memory: MEMORY });
  }
}

function isOwn(session: SessionRecord, resume: FrameOf<'hello'>['payload']['resume']): boolean {
  return resume?.session === session.session && tokenHash(resume.resume_token) === session.tokenHash;
}
