import type { HubClient } from '../hub-client/index.ts';
import type { FrameOf, TaskPayload, TaskResultPayload } from '../protocol/index.ts';
import { TaskResultPayload as ResultSchema } from '../protocol/index.ts';

/** How a task that went out came back. */
export type TaskEnd =
  | { readonly kind: 'result'; readonly result: TaskResultPayload }
  /** No result: attempts used up, nobody there, or cancelled; `reason` is the hub's word for it. */
  | { readonly kind: 'dead'; readonly reason: string }
  /** The worker asked something that nobody but the user can answer. */
  | { readonly kind: 'question'; readonly question: string };

export interface Dispatcher {
  /** Sends a task (or picks it up again after a restart) and waits for its end. */
  run(
    task: { readonly id: string; readonly to: string; readonly payload: TaskPayload },
    signal: AbortSignal,
  ): Promise<TaskEnd>;
  cancel(taskId: string, reason: string): Promise<void>;
}

interface DispatcherOptions {
  readonly client: HubClient;
  /** Answers a worker's question, or undefined when only the user can. */
  readonly answer: (question: string, taskId: string) => Promise<string | undefined>;
  readonly onStatus: (status: FrameOf<'task.status'>) => void;
}

type Waiter = (end: TaskEnd) => void;

/** The owner's side of tasks on the hub. Results wait in the mailbox, so none is lost between a crash and the restart. */
export function createDispatcher({ client, answer, onStatus }: DispatcherOptions): Dispatcher {
  const waiters = new Map<string, Waiter>();
  const settle = (taskId: string, end: TaskEnd): void => {
    waiters.get(taskId)?.(end);
    waiters.delete(taskId);
  };

  client.on('task.result', (frame) =>
    settle(frame.task_id, { kind: 'result', result: ResultSchema.parse(frame.payload) }),
  );
  client.on('task.status', (frame) => {
    onStatus(frame);
    const { sub_state, reason } = frame.payload;
    // `failed` comes with a result of its own, but for the one failure that is the hub's.
    const hubFailed = sub_state === 'failed' && reason.startsWith('no_worker');
    if (sub_state === 'dead' || sub_state === 'cancelled' || hubFailed) {
      settle(frame.task_id, { kind: 'dead', reason: reason || sub_state });
    }
  });
  client.on('task.input', async (frame) => {
    const text = await answer(frame.payload.question, frame.task_id);
    if (text === undefined) settle(frame.task_id, { kind: 'question', question: frame.payload.question });
    else
      await client.send({
        type: 'task.answer',
        to: frame.from,
        task_id: frame.task_id,
        payload: { text },
        ...(frame.id && { ref: frame.id }),
        ...(frame.attempt !== undefined && { attempt: frame.attempt }),
      });
  });

  return {
    async run(task, signal) {
      signal.throwIfAborted();
      const end = new Promise<TaskEnd>((resolve, reject) => {
        waiters.set(task.id, resolve);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      end.catch(() => {}); // awaited below; an abort while the assignment is under way must not go unhandled
      const [row] = await client.tasks(task.id);
      if (row === undefined || row.task_id !== task.id) {
        await client.send({ type: 'task.assign', to: task.to, task_id: task.id, payload: task.payload });
      } else if (row.state === 'done' || row.state === 'failed') {
        settle(task.id, await recordedEnd(client, task.id, row.reason));
      }
      return end;
    },
    async cancel(taskId, reason) {
      await client.send({ type: 'task.cancel', to: 'hub', task_id: taskId, payload: { reason } });
    },
  };
}

/** How a task ended that was over before this process looked. The last result in the log with the row's attempt is the one that counted. */
async function recordedEnd(client: HubClient, taskId: string, reason: string | null): Promise<TaskEnd> {
  const [row] = await client.tasks(taskId);
  let result: TaskResultPayload | undefined;
  for await (const frame of client.readLog({ task_id: taskId, type: 'task.result' })) {
    if (frame.attempt !== undefined && row && frame.attempt !== row.attempt) continue;
    result ??= ResultSchema.parse(frame.payload);
  }
  return result ? { kind: 'result', result } : { kind: 'dead', reason: reason ?? 'lost' };
}
