import { readFile } from 'node:fs/promises';
import type { Log } from '../base/log.ts';
import { backoff } from '../base/time.ts';
import type { HubClient } from '../hub-client/index.ts';
import type { Journal } from './journal.ts';

/** A role agent as a process (or, with `--in-process`, as something that behaves like one). */
export interface SpawnedAgent {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat, so that a reused pid is never mistaken for the child; empty where there is none. */
  readonly startTime: string;
  readonly exited: Promise<{ readonly exit: number | null; readonly signal: string | null }>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** Starts a role agent that connects to the run's hub; `cli` passes it in. */
export type SpawnAgent = (agent: {
  readonly name: string;
  readonly role: string;
  readonly exec?: string;
}) => Promise<SpawnedAgent>;

/** Times that one agent is started again after it died. */
const MOST_RESTARTS = 3;

export interface Crew {
  /** Makes sure that somebody plays `role`: an agent that is on the hub already, or a child started now. */
  ensure(role: string): Promise<void>;
  /** Resolves with the reason when a role's child has died too often. */
  gaveUp(role: string): Promise<string>;
  /** Ends every child, and what earlier processes of this run left. */
  stop(graceMs: number): Promise<void>;
}

interface CrewOptions {
  readonly client: HubClient;
  readonly journal: Journal;
  readonly spawn: SpawnAgent;
  /** Other programs that the repository's file names for a role. */
  readonly configured: readonly { readonly role: string; readonly exec: string }[];
  readonly log: Log;
  readonly backoffMs?: number;
}

interface Member {
  readonly name: string;
  child?: SpawnedAgent;
  restarts: number;
  readonly gaveUp: PromiseWithResolver<string>;
}

interface PromiseWithResolver<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

/** Starts agents on demand, restarts those that die, and ends them all. */
export function gatherCrew(options: CrewOptions): Crew {
  const { client, journal, log } = options;
  const members = new Map<string, Member>();
  let stopping = false;

  const start = async (role: string, member: Member): Promise<void> => {
    const exec = options.configured.find((agent) => agent.role === role)?.exec;
    const child = await options.spawn({ name: member.name, role, ...(exec !== undefined && { exec }) });
    member.child = child;
    await journal.write({
      type: 'agent.spawned',
      name: member.name,
      role,
      pid: child.pid,
      start_time: child.startTime,
    });
    void child.exited
      .then((end) => onExit(role, member, child, end))
      .catch((error) => log.error({ error }, 'an agent could not be restarted'));
  };

  const onExit = async (
    role: string,
    member: Member,
    child: SpawnedAgent,
    end: Awaited<SpawnedAgent['exited']>,
  ): Promise<void> => {
    if (stopping) return;
    await journal.write({
      type: 'agent.exited',
      name: member.name,
      pid: child.pid,
      exit: end.exit,
      signal: end.signal,
    });
    if (member.restarts >= MOST_RESTARTS) {
      member.gaveUp.resolve(
        `${member.name} ended ${member.restarts + 1} times (last: ${end.signal ?? `exit ${end.exit}`})`,
      );
      return;
    }
    await new Promise((resolve) =>
      setTimeout(resolve, backoff(member.restarts, { baseMs: options.backoffMs ?? 500, capMs: 10_000 })),
    );
    member.restarts += 1;
    if (!stopping) await start(role, member);
  };

  return {
    async ensure(role) {
      if (members.has(role)) return;
      const others = (await client.agents()).some((agent) => agent.roles.includes(role));
      if (others) return;
      const member: Member = { name: `${role}-1`, restarts: 0, gaveUp: resolver() };
      members.set(role, member);
      await start(role, member);
    },
    gaveUp: (role) => members.get(role)?.gaveUp.promise ?? new Promise(() => {}),
    async stop(graceMs) {
      stopping = true;
      const children = [...members.values()].flatMap((member) => (member.child ? [member.child] : []));
      for (const child of children) child.kill('SIGTERM');
      const late = setTimeout(() => {
        for (const child of children) child.kill('SIGKILL');
      }, graceMs);
      await Promise.all(children.map((child) => child.exited));
      clearTimeout(late);
    },
  };
}

/** Ends the agents that an earlier process of this run left behind: those whose pid and start time are still the same. */
export async function endEarlierChildren(journal: Journal): Promise<number> {
  let ended = 0;
  for (const child of journal.record.children.values()) {
    if ((await startTimeOf(child.pid)) !== child.startTime || child.startTime === '') continue;
    process.kill(child.pid, 'SIGKILL');
    ended += 1;
    await journal.write({ type: 'agent.exited', name: child.name, pid: child.pid, exit: null, signal: 'SIGKILL' });
  }
  return ended;
}

/** Field 22 of /proc/PID/stat; undefined when there is no such process. The name in field 2 may hold spaces and brackets. */
async function startTimeOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function resolver<T>(): PromiseWithResolver<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
