import type { Cause, FlowNode, Issue, TaskPayload, TaskResultPayload } from '../protocol/index.ts';
import { adviceFor } from './advice.ts';
import { writeBrief, writes } from './brief.ts';
import { type FalseEnd, findFalseEnd, reportsWork } from './claims.ts';
import { orderFlow, roleOf } from './flow.ts';
import { ensureGates, failedGates, gateReport, gatesAt } from './gate-check.ts';
import { type NodeOptions, NodeRunner } from './node-runner.ts';
import { gateFailed, isLeftRunning, leftRunning, noEnd, nothingChanged } from './objections.ts';
import { readTriage, reviewProposedFlow } from './triage.ts';
import { endRun } from './verdict.ts';

/** Times that the work on one node may come back in all, whatever sent it back. */
export const MOST_RETURNS = 4;
/** Times that a coder may hand in nothing before the run gives up. */
const MOST_EMPTY = 1;

export interface WorkOptions extends NodeOptions {
  readonly knownRoles: () => Promise<readonly string[]>;
}

/** A change that the flow made: the commit to be judged, what the coder says of it, and commands that the verifier wants run too. */
export interface Change {
  readonly kind: 'change';
  readonly sha: string;
  readonly claim: string;
  /** Files that the coder hands in as artifacts. */
  readonly claimedFiles: readonly string[];
  readonly addedCommands: readonly string[];
}

/** What the flow came to. */
export type WorkEnd =
  | Change
  | { readonly kind: 'answer'; readonly text: string }
  /** A review without a change of ours. */
  | { readonly kind: 'review'; readonly result: TaskResultPayload };

/** Work that has to be done again: who found what, and the cause the run ends with when it comes back too often. */
export interface Objection {
  readonly cause: Cause;
  readonly by: string;
  readonly issues: readonly Issue[];
}

interface DoneNode {
  readonly node: string;
  readonly role: string;
  readonly result: TaskResultPayload;
}

/**
 * A run's way through its flow, one node after the other. After a restart it is walked again from the start: what the record holds
 * (results, commits, gates) is taken from there and not done again, so it arrives where the earlier process was.
 */
export class Work {
  readonly #o: WorkOptions;
  #order: FlowNode[] = [];
  #position = 0;
  readonly #nodes: NodeRunner;
  readonly #done = new Map<string, DoneNode>();
  /** Goes that each node has had; the number makes the task's id. */
  readonly #goes = new Map<string, number>();
  readonly #returns = new Map<string, number>();
  readonly #objections = new Map<string, readonly Issue[]>();
  #empty = 0;
  /** The request asks for a review and for no change. */
  #reviewing = false;

  constructor(options: WorkOptions) {
    this.#o = options;
    this.#order = orderFlow(options.journal.record.flow ?? []);
    this.#nodes = new NodeRunner(options);
  }

  /** Runs the flow to its end. Throws `RunEnd` where it cannot get there. */
  async run(): Promise<WorkEnd> {
    while (this.#position < this.#order.length) {
      const node = this.#order[this.#position];
      if (!node) break;
      const end = await this.#step(node);
      if (end) return end;
    }
    const coders = [...this.#done.values()].filter((done) => done.role === 'coder');
    const claim = coders.at(-1)?.result.summary ?? '';
    const claimed = coders.at(-1)?.result.artifacts ?? [];
    const claimedFiles = claimed.flatMap(({ kind, path }) => (kind === 'file' && path ? [path] : []));
    return {
      kind: 'change',
      sha: await this.#nodes.candidate(),
      claim,
      claimedFiles,
      addedCommands: this.#addedCommands(),
    };
  }

  /** Sends a finished change back (the Hermes review does) and runs the flow to its end again. */
  async sendBack(objection: Objection): Promise<WorkEnd> {
    await this.#return(this.#order.at(-1), objection);
    return this.run();
  }

  /** Runs one node and decides where the work goes from there. */
  async #step(node: FlowNode): Promise<WorkEnd | undefined> {
    const role = roleOf(node);
    if (role === 'verifier' && (await this.#gatesSendBack(node))) return undefined;
    if (writes(node)) this.#mustBeAllowedToWrite();

    const result = await this.#nodes.run(node, this.#taskId(node), (tree) => this.#brief(node, tree));
    this.#goes.set(node.id, (this.#goes.get(node.id) ?? 0) + 1);
    this.#done.set(node.id, { node: node.id, role, result });
    if (role === 'architect') return this.#afterTriage(node, result);
    if (this.#reviewing) return { kind: 'review', result };

    const objection = this.#objectionTo(node, result);
    if (objection) await this.#return(node, objection);
    else this.#position += 1;
    return undefined;
  }

  /** Why a node's result does not let the work go on; undefined when it does. Ends the run where a return cannot help. */
  #objectionTo(node: FlowNode, result: TaskResultPayload): Objection | undefined {
    const role = roleOf(node);
    const { language } = this.#o.trigger;
    const falseEnd = writes(node) ? findFalseEnd(result.summary) : undefined;
    // Work that came back may be right as it is: then the coder's word goes to whoever judges it again.
    const empty = role === 'coder' && !this.#nodes.changed(node.id);
    if (empty && !result.issues.some(isLeftRunning)) {
      this.#empty += 1;
      if (falseEnd) this.#endFalsely(falseEnd);
      if (this.#empty > MOST_EMPTY) this.#endWithoutChange(result);
      return { cause: 'no_change', by: 'coordinator', issues: [nothingChanged(language)] };
    }
    if (falseEnd) {
      const issue = { severity: 'blocking' as const, message: noEnd(falseEnd, language) };
      return { cause: falseEnd.cause, by: 'coordinator', issues: [issue] };
    }
    const blocking = result.issues.filter((issue) => issue.severity === 'blocking');
    if (blocking.length === 0 && result.status === 'success') return undefined;
    const issues =
      blocking.length > 0
        ? blocking.map((issue) => leftRunning(issue, language))
        : [{ severity: 'blocking' as const, message: result.summary || `${role} failed` }];
    return { cause: causeOfObjection(role, issues), by: role, issues };
  }

  #endFalsely(end: FalseEnd): never {
    return endRun(end.cause, noEnd(end, this.#o.trigger.language), this.#advice(end.cause));
  }

  #endWithoutChange(result: TaskResultPayload): never {
    const why = result.issues[0]?.message ?? result.summary;
    const message = this.#say(
      `没有任何文件被改动，请求没有完成。执行者的说法：${why}`,
      `No file was changed, so the request is not done. The worker's word for it: ${why}`,
    );
    return endRun('no_change', message, this.#advice('no_change'));
  }

  /** Goes on as the architect's first turn decided. */
  async #afterTriage(node: FlowNode, result: TaskResultPayload): Promise<WorkEnd | undefined> {
    const { journal, knownRoles } = this.#o;
    const triage = readTriage(result);
    const falseEnd = findFalseEnd(triage.kind === 'answer' ? triage.text : result.summary);
    if (falseEnd) this.#endFalsely(falseEnd);
    if (triage.kind === 'unclear') endRun('needs_input', triage.message, this.#advice('needs_input'));
    if (triage.kind === 'answer') {
      if (reportsWork(triage.text, this.#o.trigger.request)) this.#endWithoutChange(result);
      return triage;
    }
    this.#position += 1;
    if (triage.kind === 'review') {
      this.#reviewing = true;
      const reviewer = this.#order.findIndex((entry) => roleOf(entry) === 'reviewer');
      this.#position = Math.max(reviewer, this.#position);
      return undefined;
    }
    this.#mustBeAllowedToWrite();
    if (triage.flow === undefined || journal.record.flowSource === 'model') return undefined;
    const reviewed = reviewProposedFlow(node, triage.flow, await knownRoles());
    if ('refused' in reviewed) {
      await journal.write({
        type: 'comment.noted',
        body: `The proposed flow was not taken: ${reviewed.refused}`,
        by: 'coordinator',
      });
      return undefined;
    }
    await journal.write({ type: 'flow.planned', flow: reviewed.flow, source: 'model' });
    this.#order = orderFlow(reviewed.flow);
    this.#position = 1;
    return undefined;
  }

  #mustBeAllowedToWrite(): void {
    const { trigger } = this.#o;
    if (trigger.workMode && !trigger.forkSlug) return;
    const message = this.#say(
      '这个请求需要修改代码，但本次没有写入权限，所以没有推送任何内容。',
      'The request needs a change of code, and this run has no right to write, so nothing was pushed.',
    );
    const ownBranch = this.#say(
      '把分支推送到本仓库，从那里开合并请求并提及我；或者在议题里提出这个请求。',
      'Push the branch to this repository, open a pull request from there and mention me in it; or ask in an issue.',
    );
    endRun('no_permission', message, trigger.forkSlug ? ownBranch : this.#advice('no_permission'));
  }

  /** Runs the commands before a verifier is paid for; true when they failed and the work went back. */
  async #gatesSendBack(node: FlowNode): Promise<boolean> {
    const { journal, workshop, signal, trigger } = this.#o;
    if (!this.#nodes.changed()) return false;
    await journal.write({ type: 'step.entered', step: 'gates' });
    const gates = await ensureGates(journal, workshop, { sha: await this.#nodes.candidate(), added: [], signal });
    await journal.write({ type: 'step.entered', step: 'work' });
    const issues = failedGates(gates).map((gate) => gateFailed(gate, trigger.language));
    if (issues.length === 0) return false;
    await this.#return(node, { cause: 'tests_failing', by: 'coordinator', issues });
    return true;
  }

  /** Sends the work back to whoever must mend it; ends the run when it came back too often. */
  async #return(from: FlowNode | undefined, { cause, by, issues }: Objection): Promise<void> {
    const { journal } = this.#o;
    const target = from && this.#mender(from);
    const last = issues.map((issue) => issue.message).join('\n');
    if (!target) return endRun(cause, last, this.#advice(cause));
    const count = (this.#returns.get(target.id) ?? 0) + 1;
    if (count > MOST_RETURNS) {
      const message = this.#say(
        `返工 ${MOST_RETURNS} 次后仍未解决：${last}`,
        `Still open after ${MOST_RETURNS} returns: ${last}`,
      );
      endRun(cause, message, this.#advice(cause));
    }
    this.#returns.set(target.id, count);
    this.#objections.set(target.id, issues);
    if ((journal.record.returns.get(target.id)?.count ?? 0) < count) {
      await journal.write({ type: 'work.returned', node: target.id, by, count, issues: [...issues] });
    }
    this.#position = this.#order.indexOf(target);
    for (const again of this.#order.slice(this.#position)) this.#done.delete(again.id);
  }

  /** The node that mends what `from` objects to: its `on_fail`, else itself when it writes, else the nearest writer before it. */
  #mender(from: FlowNode): FlowNode | undefined {
    if (from.on_fail) return this.#order.find((node) => node.id === from.on_fail);
    return this.#order.slice(0, this.#order.indexOf(from) + 1).findLast(writes);
  }

  #taskId(node: FlowNode): string {
    const goes = this.#goes.get(node.id) ?? 0;
    return `${this.#o.journal.runKey}.${node.id}${goes === 0 ? '' : `.r${goes}`}`;
  }

  async #brief(node: FlowNode, tree: string): Promise<TaskPayload> {
    const { trigger, context, workshop, journal } = this.#o;
    const { tip } = this.#nodes;
    const changed = tip !== workshop.base;
    return writeBrief({
      node,
      request: trigger.request,
      context,
      before: [...this.#done.values()],
      objections: this.#objections.get(node.id) ?? [],
      diff: changed ? await workshop.diff(tip) : '',
      gateReport: changed ? gateReport(gatesAt(journal, await this.#nodes.candidate())) : '',
      tree,
      baseSha: tip,
    });
  }

  #addedCommands(): string[] {
    const verified = [...this.#done.values()].filter((done) => done.role === 'verifier');
    const artifacts = verified.flatMap((done) => done.result.artifacts);
    return artifacts.flatMap((artifact) => (artifact.kind === 'command' && artifact.text ? [artifact.text] : []));
  }

  #advice(cause: Cause): string {
    return adviceFor(cause, this.#o.trigger);
  }

  #say(zh: string, en: string): string {
    return this.#o.trigger.language === 'zh-CN' ? zh : en;
  }
}

/** The cause that stays when a role's objection is never settled. */
function causeOfObjection(role: string, issues: readonly Issue[]): Cause {
  if (issues.some(isLeftRunning)) return 'left_running';
  return role === 'reviewer' ? 'review_rejected' : 'unproven';
}
