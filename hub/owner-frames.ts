import { nameRule, parseTarget } from '../protocol/index.ts';
import { sizeOf } from './decode.ts';
import type { LiveTask } from './live-task.ts';
import { boxOfHolder, isFull } from './room.ts';
import type { Stamp } from './row.ts';
import { nobodyWords, type Refused, refused, type Said, stateWords, type TaskParts, toWorker } from './said.ts';
import { isOver } from './task-machine.ts';
import { may } from './tokens.ts';

/** Makes a task row that nobody is to work on yet; saying it again changes nothing while the task is not over. */
export function register(parts: TaskParts, said: Said<'register_task'>): Refused | undefined {
  const { agent, decoded, frame } = said;
  if (!may(agent.grant, 'assign')) return refused('forbidden', 'this token may not give tasks');
  const { desk, post } = parts;
  const known = desk.table.find(frame.task_id);
  const enough = known === undefined ? whyEnough(parts, agent.name) : undefined;
  if (enough !== undefined) return refused('mailbox_full', enough);
  if (known !== undefined && known.owner !== agent.name)
    return refused('bad_state', `${frame.task_id} has another owner; take another task_id`);
  if (known !== undefined && isOver(known.subState)) return refused('bad_state', stateWords(known));
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
    return refused(
      'bad_frame',
      `to: ${JSON.stringify(frame.to.slice(0, 40))} came; send one name or role:R: ${nameRule}`,
    );
  }
  const known = desk.table.find(frame.task_id);
  const registered = desk.table.live(frame.task_id);
  if (known !== undefined && (known.owner !== agent.name || registered === undefined || known.target !== '')) {
    return refused('bad_state', `there is a task ${frame.task_id} already; a new one needs a task_id of its own`);
  }
  const enough = known === undefined ? whyEnough(parts, agent.name) : undefined;
  if (enough !== undefined) return refused('mailbox_full', enough);
  const { goal, artifacts, constraints, options } = frame.payload;
  const id = post.relay(agent.name, decoded);
  const task = registered ?? desk.register(frame.task_id, agent.name);
  const payload = { goal, artifacts, constraints, ...(options && { options }) };
  desk.assign(task, frame.to, payload, { id, bytes: sizeOf(decoded) });
  if (parts.agents.workers(frame.to).length === 0) desk.tellOwner(task.record, nobodyWords(frame.to));
  desk.schedule();
  return undefined;
}

/** Answers the question of a worker that is open; an answer to another one is refused, or who asked next would take it for its own. */
export function answer({ desk, post }: TaskParts, said: Said<'task.answer'>): Refused | undefined {
  const task = ruled(desk, said);
  if ('code' in task) return task;
  const { attempt } = said.frame;
  if (attempt !== undefined && attempt !== task.record.attempt) {
    return refused('stale_attempt', `who asked in attempt ${attempt} is gone; now is attempt ${task.record.attempt}`);
  }
  const isOther = toAnotherQuestion(task, said);
  if (isOther !== undefined) return isOther;
  if (desk.move(task, { kind: 'answer' }) === undefined)
    return refused(
      'bad_state',
      `nobody asks anything in ${task.record.taskId} now; an answer is for a question that is open`,
    );
  post.relay(said.agent.name, said.decoded, toAsker(task));
  return undefined;
}

/** Refuses an answer that names another question than the open one. */
export function toAnotherQuestion({ question }: LiveTask, { frame: { ref } }: Said): Refused | undefined {
  return ref === undefined || question === undefined || ref === question
    ? undefined
    : refused('bad_state', `${ref} is not the question that is open; that is ${question}`);
}

/** Sends an answer on to who asked, who knows it by the question that it names. */
export function toAsker({ record, question }: LiveTask): Stamp {
  return { ...toWorker(record), ...(question !== undefined && { ref: question }) };
}

/** Ends a task: at once when nobody works on it, else when its worker has heard. */
export function cancel(parts: TaskParts, said: Said<'task.cancel'>): Refused | undefined {
  const { desk, post } = parts;
  const { agent, decoded, frame } = said;
  const task = ruled(desk, said);
  if ('code' in task) return task;
  const before = task.record;
  const next = desk.move(task, { kind: 'cancel', reason: frame.payload.reason });
  if (next === undefined)
    return refused('bad_state', `${before.taskId} is being cancelled already; its end comes as task.status`);
  const box = boxOfHolder(before, parts);
  post.relay(agent.name, decoded, { ...toWorker(before), box });
  if (task.over || agent.name !== next.owner) desk.tellOwner(next, frame.payload.reason);
  desk.schedule();
  return undefined;
}

/** Why no further task of this owner is taken: each of them ends with a word to its owner, which waits until it is read. */
function whyEnough({ agents, desk, limits }: TaskParts, owner: string): string | undefined {
  if (desk.table.owned(owner) >= limits.openTasks) {
    return 'too many of your tasks are not over yet; give this one when some are';
  }
  return isFull(agents.get(owner), limits)
    ? 'too much waits for you already; read and ack it, and give this task then'
    : undefined;
}

/** The task when the sender may rule over it. */
function ruled(desk: TaskParts['desk'], { agent, frame }: Said): LiveTask | Refused {
  const record = desk.table.find(frame.task_id);
  if (record === undefined) return refused('no_such_task', 'there is no such task');
  if (record.owner !== agent.name && !may(agent.grant, 'admin')) {
    return refused('forbidden', 'only the owner of a task rules over it');
  }
  return desk.table.live(frame.task_id) ?? refused('bad_state', stateWords(record));
}
