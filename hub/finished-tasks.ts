import type { TaskRecord } from './storage.ts';

/** Tasks kept in memory after their end; a hub runs for months. */
const KEPT = 1000;

/** The tasks that ended last, and ids that are known to be no task's: what the store need not be asked about. */
export class FinishedTasks {
  readonly #records = new Map<string, TaskRecord | undefined>();

  get(taskId: string): TaskRecord | undefined {
    return this.#records.get(taskId);
  }

  has(taskId: string): boolean {
    return this.#records.has(taskId);
  }

  /** Keeps the row of a task that is over; undefined = there is no task with this id. */
  add(taskId: string, record: TaskRecord | undefined): void {
    this.#records.set(taskId, record);
    if (this.#records.size <= KEPT) return;
    const [oldest] = this.#records.keys();
    if (oldest !== undefined) this.#records.delete(oldest);
  }

  remove(taskId: string): void {
    this.#records.delete(taskId);
  }
}
