/** Names tasks alike in each run: by what follows the run's key, and where there is none by their order among those of the role. */
export class TaskNames {
  readonly #run: string | undefined;
  readonly #orders = new Map<string, Map<string, number>>();

  constructor(run: string | undefined) {
    this.#run = run;
  }

  nameOf(role: string, taskId: string): string {
    if (taskId === this.#run) return '';
    if (this.#run !== undefined && taskId.startsWith(`${this.#run}.`)) return taskId.slice(this.#run.length + 1);
    const orders = this.#orders.get(role) ?? new Map<string, number>();
    this.#orders.set(role, orders);
    const order = orders.get(taskId) ?? orders.size + 1;
    orders.set(taskId, order);
    return `#${order}`;
  }
}
