import { sleep } from '../../base/time.ts';
import { type AssignedTask, serveTasks } from '../../hub-client/index.ts';
import type { Stage } from './stage.ts';

/** Takes tasks as a program does that leaves all else to the client. Ends when the client is to leave, having given back what it had. */
export async function work(stage: Stage): Promise<void> {
  const { client, leaving } = stage;
  const stop = serveTasks(client, (task) => carryOut(stage, task), { progressMs: 100, graceMs: 800, stopMs: 500 });
  await new Promise<void>((resolve) => {
    if (leaving.aborted) resolve();
    leaving.addEventListener('abort', () => resolve(), { once: true });
  });
  await stop();
}

async function carryOut({ random, actor, key }: Stage, task: AssignedTask) {
  const own = random.fork(`${task.id}/${task.attempt}`);
  for (let step = own.int(4); step >= 0; step -= 1) {
    await sleep(own.between(5, 80), task.signal);
    task.alive();
    if (own.chance(0.5)) await task.event({ type: 'stepped', step });
    if (own.chance(0.15)) await task.input('how?');
    // longer than the hub waits for a sign of life
    if (own.chance(0.03)) await sleep(1800, task.signal);
  }
  if (own.chance(0.1)) throw new Error('it does not work');
  return { status: 'success' as const, summary: `${actor.name}.${key}/${task.attempt}`, artifacts: [], issues: [] };
}
