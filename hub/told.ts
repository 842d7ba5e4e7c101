import type { Clock } from '../base/time.ts';
import type { Agents } from './agents.ts';
import { isForLevelZero } from './level-zero.ts';
import type { Mailbox } from './mailbox.ts';
import type { Change, SessionRecord, Storage } from './storage.ts';
import type { Turn } from './turn.ts';

/** Under this name, which no agent can have, lies how far all level-0 peers were told. */
const NAME = 'hub';

/** How far behind the cursors on disk may be, ms: what lies between is told again, or a dead letter though it was told. */
const BEHIND = 20;

/**
 * Level-0 peers acknowledge nothing, and most have no session that would remember how far they were told. So that a hub that is
 * killed leaves nothing behind that was accepted and is neither told nor a dead letter, their positions are written down
 * soon after they move: one for each that has a session, one for all others together.
 */
export class ToldCursors {
  readonly #parts: { agents: Agents; turn: Turn; clock: Clock; position: () => number };
  readonly #written = new WeakMap<Mailbox, number>();
  #timer: { cancel(): void } | undefined;
  #stopped = false;

  constructor(parts: { agents: Agents; turn: Turn; clock: Clock; position: () => number }) {
    this.#parts = parts;
  }

  /** A level-0 peer was told something, or something was given up that is for one. */
  moved(): void {
    if (!this.#stopped) this.#timer ??= this.#parts.clock.after(BEHIND, () => this.#write());
  }

  /** Writes the positions down a last time, in this turn's commit. */
  stop(): void {
    this.#stopped = true;
    this.#write();
  }

  #write(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const { agents, turn, position } = this.#parts;
    let told = position();
    for (const { level, session, mailbox, name } of agents.all()) {
      if (level === 1 || mailbox === undefined) continue;
      if (session === undefined) {
        if (mailbox.last > mailbox.acked) told = Math.min(told, mailbox.acked);
      } else if (this.#written.get(mailbox) !== mailbox.acked) {
        this.#written.set(mailbox, mailbox.acked);
        turn.change({ kind: 'cursor', name, acked: mailbox.acked });
      }
    }
    turn.change({ kind: 'cursor', name: NAME, acked: told });
  }
}

/**
 * Makes dead letters of what an earlier process had committed and may not have told to level-0 peers. Resolves to the sessions
 * of agents.
 */
export async function buryUntold(
  storage: Storage,
  records: readonly SessionRecord[],
  now: number,
): Promise<SessionRecord[]> {
  const last = await storage.lastLsn();
  const told = records.find(({ name }) => name === NAME)?.acked ?? last;
  const names = new Set(records.map(({ name }) => name));
  const changes: Change[] = [];
  for (let after: number | undefined = told; after !== undefined && after < last; ) {
    const page = await storage.tail({}, after, 500, 4 * 1024 * 1024);
    for (const message of page.messages) {
      const { box, lsn } = message;
      if (box === null || names.has(box) || !isForLevelZero(message)) continue;
      changes.push({ kind: 'dead', box, after: lsn - 1, upto: lsn, reason: 'offline' });
    }
    after = page.next;
  }
  changes.push({ kind: 'session', session: { name: NAME, session: '', tokenHash: '', acked: last } });
  await storage.commit(changes, now);
  return records.filter(({ name }) => name !== NAME);
}
