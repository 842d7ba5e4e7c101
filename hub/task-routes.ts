import { parseTarget } from '../protocol/index.ts';
import { sizeOf } from './decode.ts';
import { goalOf, resultOf, textOf } from './level-zero.ts';
import type { LiveTask } from './live-task.ts';
import { fullWords } from './message-routes.ts';
import { toAnotherQuestion, toAsker } from './owner-frames.ts';
import { isFull } from './room.ts';
import { nobodyWords, type Outcome, type Refused, refused, type Said, stateWords, type TaskParts } from './said.ts';
import type { TaskRecord } from './storage.ts';
import { isHeld } from './task-machine.ts';
import { finish, staleResult } from './worker-frames.ts';

/** A plain `route` that is part of a task, as level 0 speaks of tasks; `elsewhere` when it is just a message. */
export function routeInTask(parts: TaskParts, said: Said<'route'>): Outcome | 'elsewhere' {
  const record = parts.desk.table.find(said.frame.task_id);
  if (record === undefined) return 'elsewhere';
  const { name, level } = said.agent;
  const task = parts.desk.table.live(said.frame.task_id);
  if (task !== undefined && level === 0 && holds(said, record) && isHeld(record.subState)) {
    return giveBack(parts, said, task);
  }
  if (name !== record.owner) return isResultByRoute(said) ? late(parts, said, record) : 'elsewhere';
  if (task === undefined) return 'elsewhere';
  if (record.target === '') return assignByRoute(parts, said, task);
  if (record.subState === 'input_required' && level === 0) return answerByRoute(parts, said, task);
  return 'elsewhere';
}

/** Whether a plain `route` is the result of a task, as level 0 gives one; of which attempt, if any, is not asked. */
export function isResultByRoute({ connection, frame }: Said<'route'>): boolean {
  return frame.task_id !== '' && connection.level === 0 && resultOf(frame.payload) !== undefined;
}

/** Level 0 need not say which attempt it speaks of, but what it says holds. */
function holds({ agent, frame }: Said<'route'>, { agent: holder, attempt }: TaskRecord): boolean {
  return agent.name === holder && (frame.attempt === undefined || frame.attempt === attempt);
}

/** A result from whoever does not hold the task must not look to its owner like the one it waits for. */
function late(parts: TaskParts, said: Said<'route'>, record: TaskRecord): Refused | Promise<Refused> | 'elsewhere' {
  const target = parseTarget(said.frame.to);
  if (target?.kind === 'agent' && target.name !== record.owner) return 'elsewhere';
  if (holds(said, record)) return refused('bad_state', stateWords(record));
  return staleResult(parts, said, record, { payload: resultOf(said.frame.payload) });
}

/** A registered task goes to whom the message goes; a level-0 worker that is there has it as soon as it has the message. */
function assignByRoute(
  { desk, post, agents, limits }: TaskParts,
  said: Said<'route'>,
  task: LiveTask,
): Refused | undefined | 'elsewhere' {
  const { agent, decoded, frame } = said;
  const target = parseTarget(frame.to);
  if (target?.kind !== 'agent' && (target?.kind !== 'role' || target.all)) return 'elsewhere';
  const worker = target.kind === 'agent' ? agents.get(target.name) : undefined;
  if (target.kind === 'agent' && worker?.connection === undefined && worker?.mailbox === undefined) return 'elsewhere';
  const direct = worker?.level === 0 && worker.connection?.greeting === false;
  if (direct && isFull(worker, limits)) return refused('mailbox_full', fullWords(frame.to));
  const id = post.relay(agent.name, decoded, { attempt: 1, ...(direct && { box: frame.to }) });
  desk.assign(task, frame.to, goalOf(frame.payload), { id, bytes: sizeOf(decoded) });
  if (direct) {
    desk.give(task, worker);
    return undefined;
  }
  if (agents.workers(frame.to).length === 0) desk.tellOwner(task.record, nobodyWords(frame.to));
  desk.schedule();
  return undefined;
}

function giveBack(parts: TaskParts, said: Said<'route'>, task: LiveTask): undefined | 'elsewhere' {
  task.sign();
  const result = resultOf(said.frame.payload);
  if (result === undefined) return 'elsewhere';
  const owner = parts.agents.get(task.record.owner);
  const translated = owner?.level === 1 ? { type: 'task.result', payload: result } : {};
  return finish(parts, said, task, result, { attempt: task.record.attempt, ...translated });
}

function answerByRoute({ desk, post }: TaskParts, said: Said<'route'>, task: LiveTask): Refused | undefined {
  const { agent, decoded, frame } = said;
  const isOther = toAnotherQuestion(task, said);
  if (isOther !== undefined) return isOther;
  const text = textOf(frame.payload);
  desk.move(task, { kind: 'answer' });
  post.relay(agent.name, decoded, { type: 'task.answer', payload: { text }, ...toAsker(task) });
  return undefined;
}
