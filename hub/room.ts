import type { Agent, Agents } from './agents.ts';
import type { HubLimits } from './options.ts';
import type { TaskRecord } from './storage.ts';

/** What a mailbox may hold. */
export type RoomLimits = Pick<HubLimits, 'mailboxMessages' | 'mailboxBytes'>;

/** Whether so much waits for an agent that no more is taken for it. */
export function isFull(agent: Pick<Agent, 'mailbox'> | undefined, limits: RoomLimits): boolean {
  const mailbox = agent?.mailbox;
  return mailbox !== undefined && (mailbox.depth >= limits.mailboxMessages || mailbox.bytes >= limits.mailboxBytes);
}

/**
 * The mailbox that is to tell of a task's end to who had it; null when it is full and that agent never took the task: others
 * give and cancel as many as they like.
 */
export function boxOfHolder(
  { agent, session, subState }: TaskRecord,
  { agents, limits }: { readonly agents: Agents; readonly limits: RoomLimits },
): string | null {
  if (agent === null) return null;
  const hasTaken = subState !== 'offered' && session !== null;
  return hasTaken || !isFull(agents.get(agent), limits) ? agent : null;
}
