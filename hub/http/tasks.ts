import { z } from 'zod';
import { TaskId, TaskState, TaskSubState } from '../../protocol/index.ts';
import { toTaskRow } from '../inspect.ts';
import { refuse } from '../refusal.ts';
import type { TaskFilter, TaskRecord } from '../storage.ts';
import { whyStuck } from '../stuck.ts';
import { isOver, publicState } from '../task-machine.ts';
import type { HubView } from '../view.ts';
import { sendJson, sendText } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { pauses } from './pauses.ts';
import { flag, taskId, whole } from './query.ts';

/** Rows that are read from the store at once, and about the bytes of one answer. */
const PAGE = 200;
const ANSWER_BYTES = 2 * 1024 * 1024;

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
    limit: whole(1, 10_000).default(1000),
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
      stuck,
      limit,
    };
    if (after === undefined) {
      const { rows, more } = await newest(wanted, view);
      return sendText(response, `{"tasks":[${rows.reverse().join(',')}],"more":${more}}\n`, 'application/json');
    }
    const before = after === '' ? undefined : await view.storage.task(after);
    if (after !== '' && before === undefined) return noSuchTask(after);
    const { rows, next } = await onwards(wanted, before, view);
    const end = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
    return sendText(response, `{"tasks":[${rows.join(',')}]${end}}\n`, 'application/json');
  },
});

/** Which rows of the table are asked for, and how many. */
interface Wanted {
  readonly filter: TaskFilter;
  readonly stuck: boolean;
  readonly limit: number;
}

/** The rows made last, the newest first, as JSON. */
async function newest({ filter, stuck, limit }: Wanted, view: HubView): Promise<{ rows: string[]; more: boolean }> {
  const rows: string[] = [];
  const pause = pauses();
  let room = ANSWER_BYTES;
  let before: TaskRecord | undefined;
  for (;;) {
    const page = await view.storage.tasks({ ...filter, newest: PAGE, ...(before && { before }) });
    for (const record of page.toReversed()) {
      const row = taskView(record, view);
      await pause();
      if (stuck && row.stuck === undefined) continue;
      if (rows.length === limit || room <= 0) return { rows, more: true };
      const text = JSON.stringify(row);
      rows.push(text);
      room -= text.length;
    }
    if (page.length < PAGE) return { rows, more: false };
    before = page[0];
  }
}

/** Rows after one, as JSON; `next` is the id of the last row looked at, where there may be more. */
async function onwards(
  { filter, stuck, limit }: Wanted,
  first: TaskRecord | undefined,
  view: HubView,
): Promise<{ rows: string[]; next?: string }> {
  const rows: string[] = [];
  const pause = pauses();
  let [left, room] = [limit, ANSWER_BYTES];
  let after = first;
  while (left > 0 && room > 0) {
    const size = Math.min(PAGE, left);
    const page = await view.storage.tasks({ ...filter, first: size, ...(after && { after }) });
    for (const record of page) {
      const row = taskView(record, view);
      await pause();
      if (stuck && row.stuck === undefined) continue;
      const text = JSON.stringify(row);
      rows.push(text);
      room -= text.length;
    }
    if (page.length < size) return { rows };
    left -= size;
    after = page.at(-1);
  }
  return { rows, ...(after && { next: after.taskId }) };
}

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
