import type { ErrorCode, FrameOf, FrameType } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import type { Connection } from './connection.ts';
import type { Decoded } from './decode.ts';
import type { HubLimits } from './options.ts';
import type { Post } from './post.ts';
import type { Stamp } from './row.ts';
import type { Storage, TaskRecord } from './storage.ts';
import type { TaskDesk } from './task-desk.ts';
import type { Turn } from './turn.ts';

/** A frame with who said it, and through what. */
export interface Said<T extends FrameType = FrameType> {
  readonly agent: Agent;
  readonly connection: Connection;
  readonly decoded: Decoded;
  readonly frame: FrameOf<T>;
}

/** What frames about tasks are handled with. */
export interface TaskParts {
  readonly desk: TaskDesk;
  readonly post: Post;
  readonly agents: Agents;
  readonly turn: Turn;
  readonly limits: HubLimits;
  readonly storage: Pick<Storage, 'latest'>;
}

/** Why a frame was not taken. */
export interface Refused {
  readonly code: ErrorCode;
  readonly message: string;
}

/** What becomes of a frame about a task: taken, or refused; it may have to be found out. */
export type Outcome = Refused | undefined | Promise<Refused | undefined>;

export function refused(code: ErrorCode, message: string): Refused {
  return { code, message };
}

/** Says that a task stands where nothing of the kind can happen to it. */
export function stateWords({ taskId, subState }: TaskRecord): string {
  return `${taskId} is ${subState}; that cannot happen to it now`;
}

/** Says to an owner that a task waits for somebody to come. */
export function nobodyWords(target: string): string {
  return `nobody is here for ${target} yet`;
}

/** Sends a frame on to who holds the task. */
export function toWorker({ agent, attempt }: TaskRecord): Stamp {
  return agent === null ? {} : { to: agent, box: agent, attempt };
}

/** Sends a frame on to whose task it is. */
export function toOwner({ owner }: TaskRecord): Stamp {
  return { to: owner, box: owner };
}
