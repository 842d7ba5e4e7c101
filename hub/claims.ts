import type { Clock } from '../base/time.ts';
import type { ResumePoint } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import type { Connection } from './connection.ts';
import type { HubClocks } from './options.ts';
import { isOwn } from './resume.ts';
import { SignsOfLife } from './sign-of-life.ts';
import type { TaskDesk } from './task-desk.ts';

/** What claims are judged by. */
export interface ClaimParts {
  readonly agents: Agents;
  readonly desk: Pick<TaskDesk, 'table'>;
  readonly clock: Clock;
  readonly clocks: Pick<HubClocks, 'takeover'>;
}

/** Who may have a name. */
export class Claims {
  readonly #parts: ClaimParts;
  readonly #signs: SignsOfLife;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
    this.#signs = new SignsOfLife(parts.clock, parts.clocks.takeover);
  }

  /**
   * Whether a name that says hello is another's. It goes to who has its session, and to a fresh start with a token of its own;
   * a session that was replaced does not come back at the cost of its successor, or two programs would take the name from each
   * other for ever. A holder that is `mute` has lost it.
   */
  isTaken(connection: Connection, point: ResumePoint | undefined, mute?: Connection): boolean {
    const holder = this.#parts.agents.get(connection.name);
    if (holder?.connection === undefined || holder.connection === connection) return false;
    if (holder.connection === mute || isOwn(holder.session, point)) return false;
    return !isBound(connection) || point !== undefined;
  }

  /**
   * Whether a session keeps its name from level 0: it is connected, may still come back with its work, has or gave tasks that
   * are not over, or mail waits for it.
   */
  isKept(name: string): boolean {
    const agent = this.#parts.agents.get(name);
    if (agent?.session === undefined) return false;
    if (agent.connection !== undefined) return agent.level === 1;
    if (this.isAwaited(agent)) return true;
    return agent.level === 1 && (agent.grace !== undefined || agent.tasks.size > 0);
  }

  /** Whether something is for an agent's session and for nobody else: mail, and word of the tasks that it gave. */
  isAwaited({ name, level, mailbox }: Agent): boolean {
    return (mailbox?.depth ?? 0) > 0 || (level === 1 && this.#parts.desk.table.owned(name) > 0);
  }

  /** Whether a level-0 connection may have its name: nobody keeps it, or the connection's token is for this name alone. */
  isFree(connection: Connection): boolean {
    return isBound(connection) || !this.isKept(connection.name);
  }

  /** The other connection that has this one's name, when it gives no sign of life: its peer may be long gone. */
  async muteHolder({ name }: Connection): Promise<Connection | undefined> {
    const holder = this.#parts.agents.get(name)?.connection;
    return holder === undefined || (await this.#signs.ask(holder)) ? undefined : holder;
  }
}

/** Whether its token is for this name alone. */
function isBound({ admission, name }: Connection): boolean {
  return admission.grant.agent === name;
}
