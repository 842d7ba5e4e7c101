import { nameRule, parseTarget } from '../protocol/index.ts';
import { sizeOf } from './decode.ts';
import type { LiveTask } from './live-task.ts';
import { type Refused, refused, type Said, type TaskParts, toWorker } from './said.ts';
import { isOver } from './task-machine.ts';
import { may } from './tokens.ts';

/** Makes a task row that nobody is to work on yet; saying it again changes nothing while the task is not over. */
export function register(parts: TaskParts, said: Said<'register_task'>): Refused | undefined {
  const { agent, decoded, frame } = said;
  if (!may(agent.grant, 'assign')) return refused('forbidden', 'this token may not give tasks');
  const { desk, post } = parts;
  const known = desk.table.find(frame.task_id);
  if (known === undefined && hasEnough(parts, agent.name)) return refused('mailbox_full', ENOUGH);
  if (known !== undefined && known.owner !== agent.name) return refused('bad_state', 'this task has another owner');
  if (known !== undefined && isOver(known.subState)) return refused('bad_state', `the task is ${known.subState}`);
  post.relay(agent.name, decoded);
  if (known === undefined) desk.register(frame.task_id, agent.name);
  return undefined;
}

/** Gives a task, new or registered, to a name or a role. */
export function assign(parts: TaskParts, said: Said<'task.assign'>): Refused | undefined {
  const { desk, post } = parts;
  const { agent, decoded, frame } = said;
  if (!may(agent.grant, 'assign')) return refused('forbidden', 'this token may not give tasks');
  const target = parseTarget(frame.to);
  if (target?.kind !== 'agent' && (target?.kind !== 'role' || target.all)) {
    return refused('bad_frame', `to: a task goes to one name, or to role:R; ${nameRule}`);
  }
  const known = desk.table.find(frame.task_id);
  const registered = desk.table.live(frame.task_id);
  if (known !== undefined && (known.owner !== agent.name || registered === undefined || known.target !== '')) {
    return refused('bad_state', 'there is a task with this id; a new one needs its own');
  }
  if (known === undefined && hasEnough(parts, agent.name)) return refused('mailbox_full', ENOUGH);
  const { goal, artifacts, constraints, options } = frame.payload;
  const id = post.relay(agent.name, decoded);
  const task = registered ?? desk.register(frame.task_id, agent.name);
  const payload = { goal, artifacts, constraints, ...(options && { options }) };
  desk.assign(task, frame.to, payload, { id, bytes: sizeOf(decoded) });
  if (parts.agents.workers(frame.to).length === 0) desk.tellOwner(task.record, `nobody is here for ${frame.to} yet`);
  desk.schedule();
  return undefined;
}

/** Answers the question of a worker that is open; an answer to another one is refused, or who asked next would take it for its own. */
export function answer({ desk, post }: TaskParts, said: Said<'task.answer'>): Refused | undefined {
  const task = ruled(desk, said);
  if ('code' in task) return task;
  const { attempt, ref } = said.frame;
  if (attempt !== undefined && attempt !== task.record.attempt) {
    return refused('stale_attempt', `who asked in attempt ${attempt} is gone; now is attempt ${task.record.attempt}`);
  }
  if (ref !== undefined && task.question !== undefined && ref !== task.question) {
    return refused('bad_state', `${ref} is not the question that is open; that is ${task.question}`);
  }
  if (desk.move(task, { kind: 'answer' }) === undefined) return refused('bad_state', 'nobody asked anything');
  post.relay(said.agent.name, said.decoded, toWorker(task.record));
  return undefined;
}

/** Ends a task: at once when nobody works on it, else when its worker has heard. */
export function cancel({ desk, post }: TaskParts, said: Said<'task.cancel'>): Refused | undefined {
  const { agent, decoded, frame } = said;
  const task = ruled(desk, said);
  if ('code' in task) return task;
  const before = task.record;
  const next = desk.move(task, { kind: 'cancel', reason: frame.payload.reason });
  if (next === undefined) return refused('bad_state', 'the task is being cancelled already');
  post.relay(agent.name, decoded, toWorker(before));
  if (task.over || agent.name !== next.owner) desk.tellOwner(next, frame.payload.reason);
  desk.schedule();
  return undefined;
}

const ENOUGH = 'too many of your tasks are not over yet; give this one when some are';

function hasEnough({ desk, limits }: TaskParts, owner: string): boolean {
  return desk.table.owned(owner) >= limits.openTasks;
}

/** The task when the sender may rule over it. */
function ruled(desk: TaskParts['desk'], { agent, frame }: Said): LiveTask | Refused {
  const record = desk.table.find(frame.task_id);
  if (record === undefined) return refused('no_such_task', 'there is no such task');
  if (record.owner !== agent.name && !may(agent.grant, 'admin')) {
    return refused('forbidden', 'only the owner of a task rules over it');
  }
  return desk.table.live(frame.task_id) ?? refused('bad_state', `the task is ${record.subState}`);
}
