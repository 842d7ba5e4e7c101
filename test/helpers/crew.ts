import type { RunningHub } from '../../hub/index.ts';
import { join1, result } from './hub.ts';
import type { Peer, PeerFrame } from './peer.ts';

/** An owner and level-1 workers of the role coder. */
export async function crew<const Names extends readonly string[]>(
  hub: RunningHub,
  ...names: Names
): Promise<{ owner: Peer; workers: { [N in keyof Names]: Peer } }> {
  const owner = await join1(hub, 'owner');
  const workers: Peer[] = [];
  for (const name of names) workers.push(await join1(hub, name, { roles: ['coder'] }));
  return { owner, workers: workers as { [N in keyof Names]: Peer } };
}

/** The owner gives a task; returns the frame's id. */
export function assign(owner: Peer, taskId: string, options: object = {}, to = 'role:coder'): string {
  return owner.send({ type: 'task.assign', to, task_id: taskId, payload: { goal: `do ${taskId}`, options } });
}

/** The worker takes what it was offered. */
export async function takeUp(worker: Peer, attempt = 1): Promise<PeerFrame> {
  const offer = await worker.next('task.assign', (frame) => frame.attempt === attempt);
  await accept(worker, offer);
  return offer;
}

/** The worker takes this offer; resolves once the hub has heard it. */
export async function accept(worker: Peer, { task_id, attempt }: PeerFrame): Promise<void> {
  worker.send({ type: 'task.accept', task_id, ...(attempt !== undefined && { attempt }) });
  await worker.ping();
}

/** The worker hands in a success. */
export function submit(worker: Peer, taskId: string, attempt = 1, summary = 'done'): string {
  return worker.send({ type: 'task.result', task_id: taskId, attempt, payload: result(summary) });
}

/** The row of a task. */
export async function taskRow(peer: Peer, taskId: string) {
  peer.send({ type: 'tasks', payload: { prefix: taskId } });
  return (await peer.next('tasks')).payload.tasks[0];
}

/** The next `task.status` with this sub-state. */
export function statusOf(owner: Peer, subState: string): Promise<PeerFrame> {
  return owner.next('task.status', ({ payload }) => payload.sub_state === subState);
}
