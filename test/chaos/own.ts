import type { TaskState } from '../../protocol/index.ts';
import { actors } from './cast.ts';
import { pause, type Stage, say } from './stage.ts';

/** Tasks that one owner has under way. */
const MOST = 5;

/** Gives tasks, answers questions, cancels some. Ends when the client is to leave. */
export async function own(stage: Stage): Promise<void> {
  const { client, random, leaving, actor, key } = stage;
  const open = new Set<string>();
  client.on('task.input', async ({ task_id, id }) => {
    await pause(stage, 0, 60).catch(() => undefined);
    if (id !== undefined)
      await say(stage, { type: 'task.answer', to: 'hub', task_id, ref: id, payload: { text: 'go on' } });
  });
  client.on('task.result', ({ task_id }) => void open.delete(task_id));
  client.on('task.status', ({ task_id, payload }) => {
    if (isOver(payload.state)) open.delete(task_id);
  });
  for (const { task_id, state, target } of await client.tasks(`${actor.name}.`)) {
    if (isOver(state)) continue;
    open.add(task_id);
    // Registered by a client that did not get further.
    if (target === '') void assign(stage, task_id);
  }
  for (let number = 1; !leaving.aborted; number += 1) {
    await pause(stage, 30, 150).catch(() => undefined);
    if (leaving.aborted || stage.quiet() || open.size >= MOST) continue;
    const taskId = `${actor.name}.${key}.${number}`;
    open.add(taskId);
    if (!(await give(stage, taskId))) open.delete(taskId);
    else if (random.chance(0.15)) void cancel(stage, taskId);
  }
}

async function give(stage: Stage, task_id: string): Promise<boolean> {
  if (stage.random.chance(0.3)) await say(stage, { type: 'register_task', to: 'hub', task_id });
  return assign(stage, task_id);
}

async function assign(stage: Stage, task_id: string): Promise<boolean> {
  const { random } = stage;
  const options = { priority: random.int(3), max_attempts: random.between(2, 4) };
  return say(stage, { type: 'task.assign', to: target(stage), task_id, payload: { goal: 'work', options } });
}

function target({ random }: Stage): string {
  const chosen = random.next();
  if (chosen < 0.4) return 'role:worker';
  if (chosen < 0.8) return 'role:hand';
  return random.pick(actors.filter(({ kind }) => kind === 'worker' || kind === 'hand')).name;
}

async function cancel(stage: Stage, task_id: string): Promise<void> {
  await pause(stage, 10, 500).catch(() => undefined);
  await say(stage, { type: 'task.cancel', to: 'hub', task_id, payload: { reason: 'changed my mind' } });
}

function isOver(state: TaskState): boolean {
  return state === 'done' || state === 'failed';
}
