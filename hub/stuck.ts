import type { TaskRecord } from './storage.ts';
import type { HubView } from './view.ts';

/** Why a task does not get on without somebody's help; undefined while it does, or when it is over. */
export function whyStuck(task: TaskRecord, { agents, tasks }: Pick<HubView, 'agents' | 'tasks'>): string | undefined {
  const live = tasks.live(task.taskId);
  if (live === undefined) return undefined;
  const isThere = (name: string) => agents.get(name)?.connection !== undefined;
  switch (task.subState) {
    case 'queued':
      if (task.target === '') return `${task.owner} has not said who is to do it`;
      return agents.workers(task.target).length > 0 ? undefined : `no agent for ${task.target} is connected`;
    case 'input_required':
      return `waits for an answer of ${task.owner}${isThere(task.owner) ? '' : ', who is not connected'}`;
    case 'working': {
      if (task.agent !== null && !isThere(task.agent)) return `${task.agent} is not connected`;
      const { quietMs } = live;
      const isQuiet = task.silenceMs > 0 && quietMs > task.silenceMs / 2;
      return isQuiet ? `no sign of life from ${task.agent} for ${Math.round(quietMs / 1000)} s` : undefined;
    }
    default:
      return undefined;
  }
}
