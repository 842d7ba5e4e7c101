import { TaskPayload } from '../protocol/index.ts';
import { goalOf } from './level-zero.ts';
import type { Storage, StoredMessage, TaskRecord } from './storage.ts';

/** Bytes of payloads kept in memory, of all open tasks together. */
const MEMORY = 16 * 1024 * 1024;

/** What open tasks are about: in memory as long as there is room, else read from the log when it is asked for. */
export class TaskPayloads {
  readonly #storage: Pick<Storage, 'byTask' | 'checkpoint'>;
  readonly #room: number;
  readonly #kept = new Map<string, { readonly payload: TaskPayload; readonly bytes: number }>();
  #bytes = 0;

  constructor(storage: Pick<Storage, 'byTask' | 'checkpoint'>, room = MEMORY) {
    this.#storage = storage;
    this.#room = room;
  }

  /** Keeps a payload of about so many bytes, if there is room. */
  keep(taskId: string, payload: TaskPayload, bytes: number): void {
    this.drop(taskId);
    if (this.#bytes + bytes > this.#room) return;
    this.#kept.set(taskId, { payload, bytes });
    this.#bytes += bytes;
  }

  /** Lets go of the payload of a task that is over. */
  drop(taskId: string): void {
    this.#bytes -= this.#kept.get(taskId)?.bytes ?? 0;
    this.#kept.delete(taskId);
  }

  /** What is in memory. */
  get(taskId: string): TaskPayload | undefined {
    return this.#kept.get(taskId)?.payload;
  }

  /** Reads what the last attempt of a task left, which is never in memory. Rejects when the store cannot be read. */
  left(taskId: string): Promise<string | undefined> {
    return this.#storage.checkpoint(taskId);
  }

  /**
   * Reads it from the frame that assigned the task; undefined when that is not in the log any more, or not as it was. Rejects when
   * the log cannot be read.
   */
  async read({ taskId, assignId }: TaskRecord): Promise<TaskPayload | undefined> {
    const message = assignId === null ? undefined : await this.#storage.byTask(taskId, assignId);
    if (message === undefined || message.damaged) return undefined;
    const { type, payload } = contentOf(message);
    if (type === 'task.assign') return TaskPayload.safeParse(payload).data;
    // Level 0 gives a task by a plain message.
    return type === 'route' ? goalOf(payload) : undefined;
  }
}

function contentOf({ body }: StoredMessage): { type?: unknown; payload?: unknown } {
  try {
    return JSON.parse(body.toString()) as { type?: unknown; payload?: unknown };
  } catch {
    return {};
  }
}
