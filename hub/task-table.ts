import { FinishedTasks } from './finished-tasks.ts';
import type { LiveTask } from './live-task.ts';
import type { Storage, TaskRecord } from './storage.ts';

/** Which tasks there are: all that are not over, by id, owner and parent, and of those that are over as many as fit into memory. */
export class TaskTable {
  readonly #storage: Pick<Storage, 'task'>;
  readonly #committed: () => Promise<void>;
  readonly #live = new Map<string, LiveTask>();
  readonly #over = new FinishedTasks();
  /** Open tasks by their owner, and by their parent. */
  readonly #owned = new Map<string, number>();
  readonly #children = new Map<string, Set<LiveTask>>();

  /** `committed` resolves when everything written so far is in the store. */
  constructor(storage: Pick<Storage, 'task'>, committed: () => Promise<void>) {
    this.#storage = storage;
    this.#committed = committed;
  }

  /** The row of a task, over or not; {@link recall} comes before when it is not {@link known}. */
  find(taskId: string): TaskRecord | undefined {
    return this.#live.get(taskId)?.record ?? this.#over.get(taskId);
  }

  /** Whether {@link find} can tell: of most tasks that are over only the store knows. */
  known(taskId: string): boolean {
    return this.#live.has(taskId) || this.#over.has(taskId);
  }

  /** Asks the store about a task. */
  async recall(taskId: string): Promise<void> {
    // A task may have ended, and been forgotten here, in a turn that the store does not know of yet.
    await this.#committed();
    const record = await this.#storage.task(taskId);
    if (!this.known(taskId)) this.#over.add(taskId, record);
  }

  /** The task while it is not over. */
  live(taskId: string): LiveTask | undefined {
    return this.#live.get(taskId);
  }

  /** The tasks that are not over. */
  open(): Iterable<LiveTask> {
    return this.#live.values();
  }

  /** How many tasks of this owner are not over. */
  owned(name: string): number {
    return this.#owned.get(name) ?? 0;
  }

  /** The tasks that are not over and name this one as their parent. */
  childrenOf(taskId: string): Iterable<LiveTask> {
    return this.#children.get(taskId) ?? [];
  }

  /** Takes in a task that is not over. */
  add(task: LiveTask): void {
    const { taskId, owner, parent } = task.record;
    this.#live.set(taskId, task);
    this.#over.remove(taskId);
    this.#owned.set(owner, this.owned(owner) + 1);
    if (parent !== null) this.addChild(parent, task);
  }

  /** Puts a task below another, whether there is one or not. */
  addChild(parent: string, task: LiveTask): void {
    const children = this.#children.get(parent) ?? new Set();
    this.#children.set(parent, children.add(task));
  }

  /** Keeps of a task that is over no more than its row. */
  end(task: LiveTask): void {
    const { taskId, owner, parent } = task.record;
    this.#live.delete(taskId);
    this.#over.add(taskId, task.record);
    const owned = this.owned(owner) - 1;
    if (owned > 0) this.#owned.set(owner, owned);
    else this.#owned.delete(owner);
    const siblings = parent === null ? undefined : this.#children.get(parent);
    siblings?.delete(task);
    if (parent !== null && siblings?.size === 0) this.#children.delete(parent);
  }
}
