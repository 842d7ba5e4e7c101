import { parseTarget } from '../protocol/index.ts';
import { goalOf, resultOf } from './level-zero.ts';
import type { LiveTask } from './live-task.ts';
import { type Refused, type Said, type TaskParts, toWorker } from './said.ts';
import { isHeld } from './task-machine.ts';
import { finish } from './worker-frames.ts';

/** A plain `route` that is part of a task, as level 0 speaks of tasks; `elsewhere` when it is just a message. */
export function routeInTask(parts: TaskParts, said: Said<'route'>): Refused | undefined | 'elsewhere' {
  const task = parts.desk.live(said.frame.task_id);
  if (task === undefined) return 'elsewhere';
  const { owner, agent, target, subState } = task.record;
  const { name, level } = said.agent;
  if (name === agent && level === 0 && isHeld(subState)) return giveBack(parts, said, task);
  if (name !== owner) return 'elsewhere';
  if (target === '') return assignByRoute(parts, said, task);
  if (subState === 'input_required' && level === 0) return answerByRoute(parts, said, task);
  return 'elsewhere';
}

/** A registered task goes to whom the message goes; a level-0 worker has it as soon as it has the message. */
function assignByRoute(
  { desk, post, agents }: TaskParts,
  said: Said<'route'>,
  task: LiveTask,
): undefined | 'elsewhere' {
  const { agent, decoded, frame } = said;
  const target = parseTarget(frame.to);
  if (target?.kind !== 'agent' && (target?.kind !== 'role' || target.all)) return 'elsewhere';
  const worker = target.kind === 'agent' ? agents.get(target.name) : undefined;
  if (target.kind === 'agent' && worker?.connection === undefined && worker?.mailbox === undefined) return 'elsewhere';
  const direct = worker?.level === 0;
  const id = post.relay(agent.name, decoded, { attempt: 1, ...(direct && { box: frame.to }) });
  desk.assign(task, frame.to, goalOf(frame.payload), id);
  if (direct) desk.give(task, worker);
  else desk.schedule();
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

function answerByRoute({ desk, post }: TaskParts, { agent, decoded, frame }: Said<'route'>, task: LiveTask): undefined {
  const text = typeof frame.payload === 'string' ? frame.payload : JSON.stringify(frame.payload ?? '');
  desk.move(task, { kind: 'answer' });
  post.relay(agent.name, decoded, { type: 'task.answer', payload: { text }, ...toWorker(task.record) });
}
