import { z } from 'zod';
import { TaskId, TaskState, TaskSubState } from '../../protocol/index.ts';
import { toTaskRow } from '../inspect.ts';
import { refuse } from '../refusal.ts';
import type { TaskRecord } from '../storage.ts';
import { whyStuck } from '../stuck.ts';
import { isOver, publicState } from '../task-machine.ts';
import { LISTED, newestTasks, tasksAfter, type Wanted } from '../task-pages.ts';
import type { HubView } from '../view.ts';
import { sendJson, sendText } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { flag, taskId, whole } from './query.ts';

const states = z.union([TaskState, TaskSubState], {
  error: `one of ${[...new Set([...TaskState.options, ...TaskSubState.options])].join(', ')}`,
});

const subStates = TaskSubState.options;

/** The task table, oldest first: the newest ones, or with `after` page by page from the first one on. */
export const tasksEndpoint = endpoint({
  method: 'GET',
  path: '/v1/tasks',
  scope: 'watch',
  help: 'the task table: ?prefix= of ids, ?state=, ?stuck=1 (and why), ?limit= newest ones (1000), or those after the ID in ?after=',
  query: z.strictObject({
    prefix: z.string().max(128).default(''),
    state: states.optional(),
    stuck: flag.default(false),
    limit: whole(1, 10_000).default(LISTED),
    /** Empty: from the first one. */
    after: TaskId.optional(),
  }),
  answer: async ({ query, view, response }) => {
    const { prefix, state, stuck, limit, after } = query;
    const wanted: Wanted = {
      filter: {
        prefix,
        open: stuck,
        ...(state !== undefined && { states: subStates.filter((sub) => sub === state || publicState(sub) === state) }),
      },
      limit,
      row: (record) => {
        const row = taskView(record, view);
        return stuck && row.stuck === undefined ? undefined : row;
      },
    };
    if (after === undefined) {
      const { rows, more } = await newestTasks(wanted, view.storage);
      return sendText(response, `{"tasks":[${rows.join(',')}],"more":${more}}\n`, 'application/json');
    }
    const before = after === '' ? undefined : await view.storage.task(after);
    if (after !== '' && before === undefined) return noSuchTask(after);
    const { rows, next } = await tasksAfter(wanted, before, view.storage);
    const end = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
    return sendText(response, `{"tasks":[${rows.join(',')}]${end}}\n`, 'application/json');
  },
});

/** One task, with what steers it. */
export const taskEndpoint = endpoint({
  method: 'GET',
  path: '/v1/tasks/:id',
  scope: 'watch',
  help: 'one task, with its clocks',
  query: z.strictObject({}),
  answer: async ({ id, view, response }) => {
    const record = await view.storage.task(id);
    if (record === undefined) return noSuchTask(id);
    const { losses, priority, maxAttempts, silenceMs, attemptMs, deadline } = record;
    const live = view.tasks.live(id);
    return sendJson(response, {
      task: {
        ...taskView(record, view),
        losses,
        priority,
        max_attempts: maxAttempts,
        silence_timeout_ms: silenceMs,
        attempt_timeout_ms: attemptMs,
        deadline,
        quiet_ms: record.subState === 'working' && live !== undefined ? Math.round(live.quietMs) : null,
        has_checkpoint: (await view.storage.checkpoint(id)) !== undefined,
      },
    });
  },
});

/** A task as `tasks` has it, and, where it stands still, why. */
export function taskView(record: TaskRecord, view: HubView) {
  const stuck = isOver(record.subState) ? undefined : whyStuck(record, view);
  return { ...toTaskRow(record), ...(stuck !== undefined && { stuck }) };
}

/** There is none with this id. */
export function noSuchTask(id: string) {
  const isId = taskId.safeParse(id).success;
  return refuse(404, 'no_such_task', isId ? `there is no task ${id}` : 'this is no id of a task');
}
