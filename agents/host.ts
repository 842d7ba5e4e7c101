import { randomUUID } from 'node:crypto';
import type { Host } from '../core/host.ts';
import type { AssignedTask } from '../hub-client/index.ts';

/** The way from a task's tools to its owner, over the hub. */
export function hostOf(task: Pick<AssignedTask, 'input' | 'event' | 'note'>): Host {
  return {
    ask: (question) => task.input(question),

    async comment(request) {
      const id = `comment-${randomUUID().slice(0, 8)}`;
      await task.event({ type: 'comment.asked', id, ...request });
      return id;
    },

    async plan(items) {
      await task.event({ type: 'plan.changed', items });
      const done = items.filter((item) => item.state === 'done').length;
      const doing = items.find((item) => item.state === 'doing');
      task.note(`${done} of ${items.length} steps done${doing ? `, now: ${doing.text}` : ''}`.slice(0, 2000));
    },
  };
}
