import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import type { Agent, Agents } from './agents.ts';
import { errorFrame } from './answers.ts';
import type { HubClocks, HubLimits, Retention } from './options.ts';
import type { Sessions } from './sessions.ts';
import type { Storage, StoredMessage } from './storage.ts';
import type { Turn } from './turn.ts';

/** What is swept, and by which rules. */
export interface SweeperParts {
  readonly agents: Agents;
  readonly sessions: Sessions;
  readonly storage: Storage;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly clocks: HubClocks;
  readonly limits: HubLimits;
  readonly retention: Retention;
  readonly log: Log;
}

const PERIOD = 60_000;

/** Messages given up in one transaction. */
const PAGE = 16;

/** Names that a sweep asks the log about, so that a start with many of them holds nobody up. */
const LOOK_UPS = 20;

/**
 * Goes round once a minute: messages that waited too long for somebody who is away become dead letters, names that were
 * away for very long with nothing waiting are forgotten, and the log is trimmed.
 */
export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #began: { readonly wall: number; readonly monotonic: number };
  #timer: { cancel(): void } | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#began = { wall: parts.clock.now(), monotonic: parts.clock.monotonic() };
  }

  start(): void {
    this.#timer = this.#parts.clock.after(PERIOD, () => {
      this.#sweeping = this.#sweep().catch((error: unknown) => {
        this.#parts.log.error({ err: error }, 'a sweep failed');
      });
      void this.#sweeping.then(() => {
        if (!this.#stopped) this.start();
      });
    });
  }

  /** Resolves when nothing is swept any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { agents, storage, limits, clocks, retention } = this.#parts;
    const now = this.#now();
    let lookUps = 0;
    for (const agent of [...agents.all()]) {
      if (this.#stopped) return;
      // A read of the log that failed has nobody else who tries it again.
      if (agent.connection !== undefined) agent.mailbox?.feed();
      if (agent.connection !== undefined || agent.session === undefined) continue;
      if (limits.mailboxTtlMs > 0) await this.#expire(agent, now - limits.mailboxTtlMs);
      if (clocks.forget === 0) continue;
      if (agent.lastSeen === 0 && lookUps < LOOK_UPS) {
        lookUps += 1;
        const [last] = await storage.latest({ agent: agent.name }, 1);
        agent.lastSeen ||= last?.ts ?? now;
      }
      if (agent.lastSeen > 0 && agent.lastSeen <= now - clocks.forget) this.#parts.sessions.forget(agent);
    }
    const { ageMs = 0, bytes = 0 } = retention;
    if (ageMs > 0 || bytes > 0) {
      const limits = { ...(ageMs > 0 && { before: now - ageMs }), ...(bytes > 0 && { maxBytes: bytes }) };
      await storage.trim({ ...limits, waiting: this.#waiting() });
    }
  }

  /** What is still to be told: a level-0 peer has no session in the store that would tell of it. */
  #waiting(): { box: string; after: number }[] {
    const waiting: { box: string; after: number }[] = [];
    for (const { name, mailbox, session } of this.#parts.agents.all()) {
      // One that is empty now may not be by the end of a long trim.
      if (mailbox !== undefined && (mailbox.depth > 0 || session === undefined))
        waiting.push({ box: name, after: mailbox.acked });
    }
    return waiting;
  }

  /** A machine whose time is set on by a day must not lose what waits: the earlier of its time and of what passed since the start. */
  #now(): number {
    const { clock } = this.#parts;
    return Math.min(clock.now(), this.#began.wall + clock.monotonic() - this.#began.monotonic);
  }

  async #expire(agent: Agent, before: number): Promise<void> {
    const { storage, turn } = this.#parts;
    const { mailbox, name } = agent;
    while (mailbox !== undefined && mailbox.depth > 0 && !this.#stopped) {
      const after = mailbox.acked;
      const page = await storage.mailbox(name, after, PAGE);
      // Whoever has come back meanwhile gets what is there.
      if (agent.connection !== undefined || mailbox.acked !== after) return;
      const firstYoung = page.findIndex(({ ts }) => ts > before);
      const expired = firstYoung === -1 ? page : page.slice(0, firstYoung);
      const upto = expired.at(-1)?.lsn;
      if (upto === undefined) return;
      mailbox.pass(expired);
      turn.change({ kind: 'dead', box: name, after, upto, reason: 'expired' });
      turn.change({ kind: 'cursor', name, acked: upto });
      this.#tellSenders(expired, name);
      if (expired.length < PAGE) return;
    }
  }

  /** Who sent what came to nothing hears of it when connected; that it is on the list of dead letters is for everybody else. */
  #tellSenders(expired: readonly StoredMessage[], box: string): void {
    const { agents, turn } = this.#parts;
    for (const sender of new Set(expired.map(({ from }) => from))) {
      const { connection } = agents.get(sender) ?? {};
      const ids = expired.filter(({ from }) => from === sender).map(({ id }) => id);
      if (connection === undefined || connection.level === 0) continue;
      const message = `${box} did not come for ${ids.length} of your messages in time; they are dead letters now`;
      const details = { to: box, ids };
      turn.after(() => connection.send(errorFrame(sender, 'offline', message, { ref: ids[0], details })));
    }
  }
}
