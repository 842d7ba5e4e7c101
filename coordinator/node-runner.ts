import type { Cause, FlowNode, TaskPayload, TaskResultPayload } from '../protocol/index.ts';
import { adviceFor } from './advice.ts';
import { writes } from './brief.ts';
import type { RunContext } from './context.ts';
import type { Crew } from './crew.ts';
import type { Dispatcher, TaskEnd } from './dispatch.ts';
import { distil } from './distil.ts';
import { roleOf } from './flow.ts';
import type { Journal } from './journal.ts';
import { causeOfDeath, causeOfFailure } from './task-cause.ts';
import type { Trigger } from './trigger.ts';
import { endRun } from './verdict.ts';
import type { Workshop } from './workshop.ts';

export interface NodeOptions {
  readonly trigger: Trigger;
  readonly context: RunContext;
  readonly journal: Journal;
  readonly dispatcher: Dispatcher;
  readonly crew: Crew;
  readonly workshop: Workshop;
  /** The attempt tokens of a task die with it. */
  readonly revokeTask: (taskId: string) => void;
  readonly signal: AbortSignal;
  /** Throws when no new task may start (deadline, end of the run). */
  readonly mayStart: () => void;
}

/** Takes one node of the flow from its tree to its commit and its distilled result, and keeps the line of commits. */
export class NodeRunner {
  readonly #o: NodeOptions;
  #tip: string;
  readonly #commits: { node: string; sha: string; message: string }[] = [];

  constructor(options: NodeOptions) {
    this.#o = options;
    this.#tip = options.workshop.base;
  }

  /** The newest commit; the base while there is none. */
  get tip(): string {
    return this.#tip;
  }

  /** Whether anything was committed, or anything by this node. */
  changed(node?: string): boolean {
    return node === undefined ? this.#commits.length > 0 : this.#commits.some((commit) => commit.node === node);
  }

  /** The commit that would be delivered now. */
  candidate(): Promise<string> {
    const { workshop } = this.#o;
    return this.#commits.length === 0 ? Promise.resolve(workshop.base) : workshop.candidate(this.#commits);
  }

  /** The node's result, from the record or from an agent; ends the run when there is none. */
  async run(node: FlowNode, taskId: string, brief: (tree: string) => Promise<TaskPayload>): Promise<TaskResultPayload> {
    const { journal, workshop } = this.#o;
    const recorded = journal.record.results.get(taskId);
    if (recorded) {
      this.#adopt(node, taskId);
      return recorded;
    }
    this.#o.mayStart();
    await this.#o.crew.ensure(roleOf(node));
    const start = this.#tip;
    const tree = await workshop.openTree(taskId, start, writes(node) ? 'writing' : 'judging');
    let end: TaskEnd;
    try {
      end = await this.#dispatch(node, taskId, await brief(tree));
    } finally {
      this.#o.revokeTask(taskId);
      // Also when the run is being ended: what was written so far is saved.
      if (writes(node)) await this.#commit(node, taskId, start);
    }
    await workshop.closeTree(taskId);
    const result = distil(this.#resultOf(end, node));
    await journal.write({ type: 'task.distilled', node: node.id, result }, taskId);
    return result;
  }

  #resultOf(end: TaskEnd, node: FlowNode): TaskResultPayload {
    if (end.kind === 'question') return endRun('needs_input', end.question, this.#advice('needs_input'));
    if (end.kind === 'dead') {
      const cause = causeOfDeath(end.reason);
      const message = this.#say(
        `任务 ${node.id} 没有结果：${end.reason}`,
        `The task ${node.id} has no result: ${end.reason}`,
      );
      return endRun(cause, message, this.#advice(cause));
    }
    const failure = causeOfFailure(end.result);
    if (failure) endRun(failure.cause, failure.message, this.#advice(failure.cause));
    return end.result;
  }

  async #dispatch(node: FlowNode, taskId: string, payload: TaskPayload): Promise<TaskEnd> {
    const { dispatcher, crew, signal } = this.#o;
    const role = roleOf(node);
    const number = node.target_agent.split(':')[1];
    const to = number ? `${role}-${number}` : `role:${role}`;
    const gaveUp = crew.gaveUp(role).then((reason): TaskEnd => ({ kind: 'dead', reason: `crashed: ${reason}` }));
    const end = await Promise.race([dispatcher.run({ id: taskId, to, payload }, signal), gaveUp]);
    if (end.kind === 'question') await dispatcher.cancel(taskId, 'the run ends with the question');
    return end;
  }

  async #commit(node: FlowNode, taskId: string, start: string): Promise<void> {
    const { journal, workshop } = this.#o;
    const { sha, files, leftOut } = await workshop.commit({ taskId, start, message: this.#message(node) });
    await journal.write(
      { type: 'task.committed', node: node.id, sha, files: [...files], left_out: [...leftOut] },
      taskId,
    );
    this.#adopt(node, taskId);
    const wip = sha === start ? undefined : await workshop.saveWork(sha);
    if (wip !== undefined && journal.record.delivered.wip !== wip) await journal.write({ type: 'work.delivered', wip });
  }

  /** Takes a task's recorded commit as the new tip. */
  #adopt(node: FlowNode, taskId: string): void {
    const commit = this.#o.journal.record.commits.findLast((entry) => entry.taskId === taskId);
    if (!commit || commit.sha === this.#tip) return;
    this.#tip = commit.sha;
    this.#commits.push({ node: node.id, sha: commit.sha, message: this.#message(node) });
  }

  /** The commit message of a node's work. */
  #message(node: FlowNode): string {
    const { context, trigger, journal } = this.#o;
    const several = (journal.record.flow ?? []).filter(writes).length > 1;
    const subject = [...context.title.replaceAll(/\s+/g, ' ')].slice(0, 72).join('');
    const reference = trigger.thread ? `Refs: #${trigger.thread.number}\n` : '';
    return `${several ? `${node.id}: ` : ''}${subject}\n\n${reference}Run: ${journal.runKey}\n`;
  }

  #advice(cause: Cause): string {
    return adviceFor(cause, this.#o.trigger);
  }

  #say(zh: string, en: string): string {
    return this.#o.trigger.language === 'zh-CN' ? zh : en;
  }
}
