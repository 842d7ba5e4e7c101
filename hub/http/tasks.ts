import { z } from 'zod';
import { TaskId, TaskState, TaskSubState } from '../../protocol/index.ts';
import { toTaskRow } from '../inspect.ts';
import { refuse } from '../refusal.ts';
import type { TaskRecord } from '../storage.ts';
import { whyStuck } from '../stuck.ts';
import { isOver, publicState } from '../task-machine.ts';
import type { HubView } from '../view.ts';
import { sendJson } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { flag, taskId, whole } from './query.ts';

/** Newest tasks among which those of a state are looked for. */
const SEARCHED = 100_000;

const states = z.union([TaskState, TaskSubState], {
  error: `one of ${[...new Set([...TaskState.options, ...TaskSubState.options])].join(', ')}`,
});

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
    limit: whole(1, 10_000).default(1000),
    /** Empty: from the first one. */
    after: TaskId.optional(),
  }),
  answer: async ({ query, view, response }) => {
    const { prefix, state, stuck, limit, after } = query;
    const { storage } = view;
    const fitting = (records: readonly TaskRecord[]) =>
      records
        .filter(({ subState }) => state === undefined || state === subState || state === publicState(subState))
        .map((record) => taskView(record, view))
        .filter((row) => !stuck || row.stuck !== undefined);
    if (after === undefined) {
      const whole = state === undefined && !stuck;
      const tasks = fitting(await storage.tasks({ prefix, open: stuck, newest: whole ? limit + 1 : SEARCHED }));
      return sendJson(response, { tasks: tasks.slice(-limit), more: tasks.length > limit });
    }
    const before = after === '' ? undefined : await storage.task(after);
    if (after !== '' && before === undefined) return noSuchTask(after);
    const page = await storage.tasks({ prefix, open: stuck, first: limit, ...(before && { after: before }) });
    const next = page.length === limit ? { next: page.at(-1)?.taskId } : {};
    return sendJson(response, { tasks: fitting(page), ...next });
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
    const { losses, priority, maxAttempts, silenceMs, attemptMs, deadline, checkpoint } = record;
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
        has_checkpoint: checkpoint !== null,
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
