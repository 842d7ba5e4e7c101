import type { Connection } from './connection.ts';
import type { Mailbox } from './mailbox.ts';
import { Recent } from './recent.ts';
import type { SessionRecord } from './storage.ts';
import { type Grant, may } from './tokens.ts';

/** Who has a name: the connection it speaks through, and what it said of itself. */
export interface Agent {
  readonly name: string;
  level: 0 | 1;
  roles: readonly string[];
  title: string | undefined;
  maxConcurrency: number;
  grant: Grant;
  /** The session that has the name; undefined while it never spoke level 1. */
  session: SessionRecord | undefined;
  connection: Connection | undefined;
  /** What waits for the name. Without a session it is there as long as a level-0 connection is. */
  mailbox: Mailbox | undefined;
  connectedAt: number;
  lastSeen: number;
  /** Ends the wait for a lost connection to come back. */
  grace: { cancel(): void } | undefined;
  /** What it sent last. */
  readonly recent: Recent;
  /** Tasks it holds. */
  readonly tasks: Set<string>;
}

/** Whether there is nobody of this name, and nobody is expected back either. */
export function isGone(agent: Agent | undefined): boolean {
  return agent?.connection === undefined && agent?.grace === undefined;
}

/** The agents that the hub knows, connected or not. */
export class Agents {
  readonly #byName = new Map<string, Agent>();

  get(name: string): Agent | undefined {
    return this.#byName.get(name);
  }

  /** The agent of this name, made when there is none. */
  obtain(name: string, grant: Grant): Agent {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const agent: Agent = {
      name,
      level: 0,
      roles: [],
      title: undefined,
      maxConcurrency: 1,
      grant,
      session: undefined,
      connection: undefined,
      mailbox: undefined,
      connectedAt: 0,
      lastSeen: 0,
      grace: undefined,
      recent: new Recent(),
      tasks: new Set(),
    };
    this.#byName.set(name, agent);
    return agent;
  }

  forget(name: string): void {
    this.#byName.delete(name);
  }

  all(): Iterable<Agent> {
    return this.#byName.values();
  }

  connected(): Agent[] {
    return [...this.#byName.values()].filter((agent) => agent.connection !== undefined);
  }

  /** All targets for which a connected agent is there. */
  served(): ReadonlySet<string> {
    return new Set(this.connected().flatMap((agent) => (may(agent.grant, 'work') ? targetsOf(agent) : [])));
  }

  /** Connected agents that a task for `target` (a name or `role:R`) may go to. */
  workers(target: string): Agent[] {
    return this.connected().filter((agent) => fits(agent, target) && may(agent.grant, 'work'));
  }
}

/** What a task may be for that this agent gets. */
export function targetsOf({ name, roles }: Agent): string[] {
  return [name, ...roles.map((role) => `role:${role}`)];
}

function fits(agent: Agent, target: string): boolean {
  return target.startsWith('role:') ? agent.roles.includes(target.slice(5)) : agent.name === target;
}
