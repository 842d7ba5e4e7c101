import type { Clock } from '../base/time.ts';
import { CloseCode } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import type { Connection } from './connection.ts';
import { Mailbox, type MailboxLimits } from './mailbox.ts';
import { MailboxMemory } from './mailbox-memory.ts';
import type { HubClocks, HubLimits } from './options.ts';
import type { MailboxFacts, Storage } from './storage.ts';
import type { TaskDesk } from './task-desk.ts';
import type { Turn } from './turn.ts';

/** What names are held with. */
export interface HolderParts {
  readonly agents: Agents;
  readonly desk: TaskDesk;
  readonly storage: Storage;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly clocks: Pick<HubClocks, 'grace'>;
  readonly limits: Pick<HubLimits, 'maxInflight' | 'maxInflightBytes'>;
  /** Position of the newest committed message. */
  readonly position: () => number;
}

/** Bytes of waiting messages kept in memory, for all names and for one. */
const MEMORY = 16 * 1024 * 1024;
const MEMORY_EACH = 6 * 1024 * 1024;

/** Which connection has which name: gives it, takes it back, and waits for those who lost theirs. */
export class Holders {
  readonly #parts: HolderParts;
  readonly #mailboxLimits: MailboxLimits;

  constructor(parts: HolderParts) {
    this.#parts = parts;
    const { maxInflight, maxInflightBytes } = parts.limits;
    this.#mailboxLimits = { maxInflight, maxInflightBytes, memory: new MailboxMemory(MEMORY, MEMORY_EACH) };
  }

  /** Gives the name to a connection; a mailbox without a session goes on, too. */
  take(agent: Agent, connection: Connection): void {
    const old = agent.connection;
    if (old !== undefined && old !== connection) {
      agent.mailbox?.detach();
      agent.connection = undefined;
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

  /** Ends the connection of an agent that is on another one now, which is still to be judged. */
  letGo(agent: Agent): void {
    const old = agent.connection;
    if (old === undefined) return;
    this.unplug(agent);
    this.awaitReturn(agent);
    this.#parts.desk.disconnected(agent);
    old.close(CloseCode.replaced, 'another connection has the name now');
  }

  /** Takes the name from its connection, which is over: what level 0 has not read is nobody's any more. */
  unplug(agent: Agent): void {
    const { mailbox, session, name, level } = agent;
    mailbox?.detach();
    agent.connection = undefined;
    agent.lastSeen = this.#parts.clock.now();
    if (mailbox === undefined || level === 1) return;
    const { turn } = this.#parts;
    if (session !== undefined) {
      turn.change({ kind: 'cursor', name, acked: mailbox.acked });
      return;
    }
    // A level-0 peer has no way to come back for what it did not read.
    agent.mailbox = undefined;
    if (mailbox.last > mailbox.acked) {
      turn.change({ kind: 'dead', box: name, after: mailbox.acked, upto: mailbox.last, reason: 'offline' });
    }
  }

  /** Waits for an agent that is away; one that does not come back within the grace has lost its work. */
  awaitReturn(agent: Agent): void {
    agent.grace?.cancel();
    agent.grace = this.#parts.clock.after(this.#parts.clocks.grace, () => this.giveUp(agent));
  }

  /** Waits no longer for an agent that is away: it has lost its work. */
  giveUp(agent: Agent): void {
    agent.grace?.cancel();
    agent.grace = undefined;
    agent.recent.clear();
    this.#parts.desk.loseAll(agent, `${agent.name} did not come back`);
    this.#parts.desk.agentChanged(agent.name);
    if (agent.session === undefined && agent.tasks.size === 0) this.#parts.agents.forget(agent.name);
  }

  /** A mailbox that begins now, or one that goes on. */
  newMailbox(name: string, state?: { acked: number } & MailboxFacts): Mailbox {
    const { position, storage } = this.#parts;
    const now = position();
    return new Mailbox(name, state ?? { acked: now, depth: 0, bytes: 0, last: now }, storage, this.#mailboxLimits);
  }
}
