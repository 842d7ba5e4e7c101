import type { Cause, Flow, FlowNode, Issue, TaskResultPayload } from '../protocol/index.ts';
import { adviceFor } from './advice.ts';
import { type BriefParts, writeBrief, writes } from './brief.ts';
import { findFalseEnd } from './claims.ts';
import type { RunContext } from './context.ts';
import type { Crew } from './crew.ts';
import type { Dispatcher, TaskEnd } from './dispatch.ts';
import { distil } from './distil.ts';
import { checkFlow, orderFlow, parseFlow, roleOf } from './flow.ts';
import { ensureGates, failedGates, gateIssues, gateReport, gatesAt } from './gate-check.ts';
import type { Journal } from './journal.ts';
import { causeOfDeath, causeOfFailure } from './task-cause.ts';
import type { Trigger } from './trigger.ts';
import { endRun } from './verdict.ts';
import type { Workshop } from './workshop.ts';

/** Times that the work on one node may come back in all, whatever sent it back. */
export const MOST_RETURNS = 4;
/** Times that a node may come back without any change before the run gives up. */
const MOST_EMPTY = 1;

export interface WorkOptions {
  readonly trigger: Trigger;
  readonly context: RunContext;
  readonly journal: Journal;
  readonly dispatcher: Dispatcher;
  readonly crew: Crew;
  readonly workshop: Workshop;
  readonly knownRoles: () => Promise<readonly string[]>;
  readonly signal: AbortSignal;
  /** Throws when no new task may start (deadline, budget). */
  readonly mayStart: () => void;
}

/** What the flow came to. */
export type WorkEnd =
  | { readonly kind: 'answer'; readonly text: string }
  /** A review without a change of ours. */
  | { readonly kind: 'review'; readonly result: TaskResultPayload }
  | {
      readonly kind: 'change';
      readonly sha: string;
      readonly claim: string;
      readonly addedCommands: readonly string[];
    };

/** A run's way through its flow. Replayed from the record after a restart: what is recorded is not done again. */
export interface Work {
  /** Runs the flow to its end. */
  run(): Promise<WorkEnd>;
  /** Sends the finished change back once more (the Hermes review does), then runs the flow to its end again. */
  sendBack(cause: Cause, by: string, issues: readonly Issue[]): Promise<WorkEnd>;
}

export function startWork(options: WorkOptions): Work {
  return new FlowRun(options);
}

/** One done node, as the nodes behind it see it. */
interface DoneNode {
  readonly node: string;
  readonly role: string;
  readonly result: TaskResultPayload;
}

class FlowRun implements Work {
  readonly #o: WorkOptions;
  #flow: Flow = [];
  #order: FlowNode[] = [];
  #position = 0;
  #tip: string;
  readonly #done = new Map<string, DoneNode>();
  /** Goes that each node has had. */
  readonly #goes = new Map<string, number>();
  readonly #returns = new Map<string, number>();
  readonly #objections = new Map<string, readonly Issue[]>();
  readonly #commits: { node: string; sha: string; message: string }[] = [];
  #empty = 0;
  /** The request asks for a review and for no change. */
  #reviewing = false;

  constructor(options: WorkOptions) {
    this.#o = options;
    this.#tip = options.workshop.base;
  }

  async run(): Promise<WorkEnd> {
    this.#flow = this.#o.journal.record.flow ?? endRun('misconfigured', 'there is no flow', '');
    this.#order = orderFlow(this.#flow);
    return this.#advance();
  }

  async sendBack(cause: Cause, by: string, issues: readonly Issue[]): Promise<WorkEnd> {
    await this.#return(this.#order.at(-1), cause, by, issues);
    return this.#advance();
  }

  async #advance(): Promise<WorkEnd> {
    while (this.#position < this.#order.length) {
      const node = this.#order[this.#position];
      if (!node) break;
      const early = await this.#step(node);
      if (early) return early;
    }
    const claim = [...this.#done.values()].filter((done) => done.role === 'coder').at(-1)?.result.summary ?? '';
    return { kind: 'change', sha: await this.#candidate(), claim, addedCommands: this.#addedCommands() };
  }

  /** Runs one node and decides where the work goes from there. */
  async #step(node: FlowNode): Promise<WorkEnd | undefined> {
    const { trigger } = this.#o;
    const role = roleOf(node);
    if (role === 'verifier' && (await this.#gatesSendBack(node))) return undefined;
    if (writes(node) && !trigger.workMode) return this.#refuseToWrite();

    const taskId = this.#taskId(node);
    const start = this.#tip;
    const result = await this.#result(node, taskId, start);
    this.#goes.set(node.id, (this.#goes.get(node.id) ?? 0) + 1);
    this.#done.set(node.id, { node: node.id, role, result });
    if (role === 'architect') return this.#afterTriage(node, result);
    if (this.#reviewing) return { kind: 'review', result };

    if (writes(node)) {
      const falseEnd = findFalseEnd(result.summary);
      if (this.#tip === start && roleOf(node) === 'coder') {
        this.#empty += 1;
        if (this.#empty > MOST_EMPTY || falseEnd) {
          if (falseEnd) endRun(falseEnd.cause, falseEnd.message, this.#advice(falseEnd.cause));
          endRun(
            'no_change',
            this.#say(
              '执行者声称完成，但没有任何文件被改动。',
              'The worker said it was done, and no file was changed.',
            ),
            this.#advice('no_change'),
          );
        }
        const message =
          'No file differs from the start of the task. Make the change with the tools, or submit `failed` and say why it cannot be made.';
        await this.#return(node, 'no_change', 'coordinator', [{ severity: 'blocking', message }]);
        return undefined;
      }
      if (falseEnd) {
        await this.#return(node, falseEnd.cause, 'coordinator', [{ severity: 'blocking', message: falseEnd.message }]);
        return undefined;
      }
    }
    const blocking = result.issues.filter((issue) => issue.severity === 'blocking');
    if (blocking.length > 0 || result.status === 'failed') {
      const issues =
        blocking.length > 0
          ? blocking
          : [{ severity: 'blocking' as const, message: result.summary || `${role} failed` }];
      await this.#return(node, role === 'reviewer' ? 'review_rejected' : 'tests_failing', role, issues);
      return undefined;
    }
    this.#position += 1;
    return undefined;
  }

  /** The node's result, from the record or from an agent; ends the run when there is none. */
  async #result(node: FlowNode, taskId: string, start: string): Promise<TaskResultPayload> {
    const { journal } = this.#o;
    const recorded = journal.record.results.get(taskId);
    if (recorded) {
      this.#adopt(node, taskId);
      return recorded;
    }
    this.#o.mayStart();
    await this.#o.crew.ensure(roleOf(node));
    const tree = await this.#o.workshop.openTree(taskId, start, writes(node) ? 'writing' : 'judging');
    const end = await this.#dispatch(node, taskId, await this.#brief(node, tree, start));
    if (writes(node)) await this.#commit(node, taskId, start);
    await this.#o.workshop.closeTree(taskId);
    if (end.kind === 'question') endRun('needs_input', end.question, this.#advice('needs_input'));
    if (end.kind === 'dead') {
      const cause = causeOfDeath(end.reason);
      endRun(
        cause,
        this.#say(`任务 ${node.id} 没有结果：${end.reason}`, `the task ${node.id} has no result: ${end.reason}`),
        this.#advice(cause),
      );
    }
    const failure = causeOfFailure(end.result);
    if (failure) endRun(failure.cause, failure.message, this.#advice(failure.cause));
    const result = distil(end.result);
    await journal.write({ type: 'task.distilled', node: node.id, result }, taskId);
    return result;
  }

  async #dispatch(node: FlowNode, taskId: string, payload: ReturnType<typeof writeBrief>): Promise<TaskEnd> {
    const { dispatcher, crew, signal } = this.#o;
    const role = roleOf(node);
    const number = node.target_agent.split(':')[1];
    const to = number ? `${role}-${number}` : `role:${role}`;
    const gaveUp = crew.gaveUp(role).then((reason): TaskEnd => ({ kind: 'dead', reason: `crashed: ${reason}` }));
    const end = await Promise.race([dispatcher.run({ id: taskId, to, payload }, signal), gaveUp]);
    if (end.kind !== 'result') await dispatcher.cancel(taskId, 'the run ends').catch(() => {}); // it may be over already
    return end;
  }

  async #commit(node: FlowNode, taskId: string, start: string): Promise<void> {
    const { journal, workshop } = this.#o;
    const message = this.#message(node);
    const { sha, files, leftOut } = await workshop.commit({ taskId, start, message });
    await journal.write(
      { type: 'task.committed', node: node.id, sha, files: [...files], left_out: [...leftOut] },
      taskId,
    );
    this.#adopt(node, taskId);
    if (sha !== start) await workshop.saveWork(sha);
  }

  /** Takes a task's recorded commit as the new tip. */
  #adopt(node: FlowNode, taskId: string): void {
    const commit = this.#o.journal.record.commits.find((entry) => entry.taskId === taskId);
    if (!commit || commit.sha === this.#tip) return;
    this.#tip = commit.sha;
    this.#commits.push({ node: node.id, sha: commit.sha, message: this.#message(node) });
  }

  /** What the architect's first turn decided: an answer, a review, or a plan (perhaps with a flow of its own). */
  async #afterTriage(node: FlowNode, result: TaskResultPayload): Promise<WorkEnd | undefined> {
    const { journal, trigger } = this.#o;
    const artifact = (title: string) => result.artifacts.find((entry) => entry.title === title)?.text;
    const answer = artifact('answer');
    if (answer !== undefined) {
      const falseEnd = findFalseEnd(answer);
      if (falseEnd) endRun(falseEnd.cause, falseEnd.message, this.#advice(falseEnd.cause));
      return { kind: 'answer', text: answer };
    }
    if (result.status === 'failed') {
      endRun('needs_input', result.issues[0]?.message ?? result.summary, this.#advice('needs_input'));
    }
    this.#position += 1;
    if (artifact('route')?.trim() === 'review') {
      this.#position = Math.max(
        this.#order.findIndex((entry) => roleOf(entry) === 'reviewer'),
        this.#position,
      );
      this.#reviewing = true;
      return undefined;
    }
    const proposed = artifact('flow');
    if (proposed !== undefined && journal.record.flowSource !== 'model') await this.#adoptFlow(node, proposed);
    if (!trigger.workMode) return this.#refuseToWrite();
    return undefined;
  }

  /** Replaces the rest of the flow by the architect's, if it passes the plan review; else the default goes on. */
  async #adoptFlow(node: FlowNode, text: string): Promise<void> {
    const { journal, knownRoles } = this.#o;
    try {
      const rest = parseFlow(text, 'the proposed flow').filter((entry) => roleOf(entry) !== 'architect');
      const first = rest
        .filter((entry) => !rest.some((other) => [other.next ?? []].flat().includes(entry.id)))
        .map(({ id }) => id);
      const flow = [{ ...node, next: first }, ...rest];
      checkFlow(flow, await knownRoles(), 'the proposed flow');
      await journal.write({ type: 'flow.planned', flow, source: 'model' });
      this.#flow = flow;
      this.#order = orderFlow(flow);
      this.#position = 1;
    } catch (error) {
      await journal.write({
        type: 'comment.noted',
        body: `the proposed flow was not taken: ${(error as Error).message}`,
        by: 'coordinator',
      });
    }
  }

  #refuseToWrite(): never {
    return endRun(
      'no_permission',
      this.#say(
        '这个请求需要修改代码，但本次没有开启工作模式，所以没有推送任何内容。',
        'The request needs a change of code, and work mode is off, so nothing was pushed.',
      ),
      this.#advice('no_permission'),
    );
  }

  /** Runs the commands before a verifier is paid for; true when they failed and the work went back. */
  async #gatesSendBack(node: FlowNode): Promise<boolean> {
    if (this.#commits.length === 0) return false;
    await this.#o.journal.write({ type: 'step.entered', step: 'gates' });
    const gates = await ensureGates(this.#o.journal, this.#o.workshop, {
      sha: await this.#candidate(),
      added: [],
      signal: this.#o.signal,
    });
    await this.#o.journal.write({ type: 'step.entered', step: 'work' });
    if (failedGates(gates).length === 0) return false;
    await this.#return(node, 'tests_failing', 'coordinator', gateIssues(gates));
    return true;
  }

  /** Sends the work back to whoever must mend it; ends the run when it came back too often. */
  async #return(from: FlowNode | undefined, cause: Cause, by: string, issues: readonly Issue[]): Promise<void> {
    const target = from && this.#mender(from);
    if (!target) endRun(cause, issues[0]?.message ?? '', this.#advice(cause));
    const count = (this.#returns.get(target.id) ?? 0) + 1;
    if (count > MOST_RETURNS) {
      const last = issues.map((issue) => issue.message).join('\n');
      endRun(
        cause,
        this.#say(`返工 ${MOST_RETURNS} 次后仍未解决：${last}`, `still open after ${MOST_RETURNS} returns: ${last}`),
        this.#advice(cause),
      );
    }
    this.#returns.set(target.id, count);
    this.#objections.set(target.id, issues);
    if ((this.#o.journal.record.returns.get(target.id)?.count ?? 0) < count)
      await this.#o.journal.write({ type: 'work.returned', node: target.id, by, count, issues: [...issues] });
    this.#position = this.#order.indexOf(target);
    for (const later of this.#order.slice(this.#position)) this.#done.delete(later.id);
  }

  /** The node that mends what `from` objects to: its `on_fail`, else itself when it writes, else the nearest writer before it. */
  #mender(from: FlowNode): FlowNode | undefined {
    if (from.on_fail) return this.#order.find((node) => node.id === from.on_fail);
    return this.#order.slice(0, this.#order.indexOf(from) + 1).findLast(writes);
  }

  #taskId(node: FlowNode): string {
    const go = this.#goes.get(node.id) ?? 0;
    return `${this.#o.journal.runKey}.${node.id}${go === 0 ? '' : `.r${go}`}`;
  }

  async #brief(node: FlowNode, tree: string, start: string): Promise<ReturnType<typeof writeBrief>> {
    const { trigger, context, workshop, journal } = this.#o;
    const changed = this.#tip !== workshop.base;
    const parts: BriefParts = {
      node,
      request: trigger.request,
      context,
      before: [...this.#done.values()],
      objections: this.#objections.get(node.id) ?? [],
      diff: changed ? await workshop.diff(this.#tip) : '',
      gateReport: changed ? gateReport(gatesAt(journal, await this.#candidate())) : '',
      tree,
      baseSha: start,
    };
    return writeBrief(parts);
  }

  #candidate(): Promise<string> {
    return this.#commits.length === 0
      ? Promise.resolve(this.#o.workshop.base)
      : this.#o.workshop.candidate(this.#commits);
  }

  #addedCommands(): string[] {
    const artifacts = [...this.#done.values()]
      .filter((done) => done.role === 'verifier')
      .flatMap((done) => done.result.artifacts);
    return artifacts.flatMap((artifact) => (artifact.kind === 'command' && artifact.text ? [artifact.text] : []));
  }

  #message(node: FlowNode): string {
    const { context, trigger, journal } = this.#o;
    const several = this.#order.filter(writes).length > 1;
    const subject = `${context.title}`.replaceAll(/\s+/g, ' ').slice(0, 72);
    const reference = trigger.thread ? `\n\nRefs: #${trigger.thread.number}` : '';
    return `${several ? `${node.id}: ` : ''}${subject}${reference}\nRun: ${journal.runKey}`;
  }

  #advice(cause: Cause): string {
    return adviceFor(cause, this.#o.trigger.language);
  }

  #say(zh: string, en: string): string {
    return this.#o.trigger.language === 'zh-CN' ? zh : en;
  }
}
