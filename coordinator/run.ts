import { messageOf } from '../base/errors.ts';
import type { Cause, FrameOf } from '../protocol/index.ts';
import { adviceFor } from './advice.ts';
import { checkAllowed } from './allowed.ts';
import { answerFromContext } from './answer.ts';
import { claimThread, firstBody } from './claim.ts';
import { type RunContext, readContext } from './context.ts';
import { type Crew, endEarlierChildren, gatherCrew } from './crew.ts';
import { type Deadline, watchDeadline } from './deadline.ts';
import { createDispatcher, type Dispatcher } from './dispatch.ts';
import { attachLog } from './ending.ts';
import { finishWork } from './finish-work.ts';
import { planFlow } from './flow-plan.ts';
import { type Journal, openJournal } from './journal.ts';
import { LIVE_FOR_MS, type LiveComment, startLiveComment } from './live-comment.ts';
import { watchFrom, watchMentions } from './mention-watch.ts';
import type { CoordinatorOptions, OpenedWorkshop, RunOutcome } from './options.ts';
import { createPicture, type Picture } from './picture.ts';
import { checkPreflight } from './preflight.ts';
import { budgetMessage } from './report/spending.ts';
import { textsFor } from './report/texts.ts';
import { causeOfError } from './task-cause.ts';
import type { Trigger } from './trigger.ts';
import { type Decision, decide, endRun, exitOf, RunEnd } from './verdict.ts';
import { Work } from './work.ts';

/** Roles that every run can start by itself. */
export const BUILT_IN_ROLES = ['architect', 'coder', 'reviewer', 'verifier'] as const;

/** Runs a request from its claim to its report. Never rejects for what a run can meet: the outcome says it. */
export async function runCoordinator(options: CoordinatorOptions): Promise<RunOutcome> {
  const { client, runKey, trusted, log } = options;
  // Handlers stand before anything is awaited, so that no frame that waits in the mailbox passes by.
  let run: Run | undefined;
  const dispatcher = createDispatcher({
    client,
    onStatus: (status) => run?.onStatus(status),
    answer: async (question) => run?.answer(question),
  });
  const journal = await openJournal(client, runKey, [client.name, ...trusted], (error) =>
    log.error({ error }, 'the log could not be read again'),
  );
  run = new Run(options, journal, dispatcher);
  return run.go();
}

class Run {
  readonly #o: CoordinatorOptions;
  readonly #journal: Journal;
  readonly #dispatcher: Dispatcher;
  readonly #picture: Picture;
  readonly #stop = new AbortController();
  readonly #startedAt = Date.now();
  #trigger: Trigger;
  #crew: Crew | undefined;
  #context: RunContext | undefined;
  #questions = 0;
  #comment: LiveComment | undefined;
  readonly #endings: (() => void)[] = [];

  constructor(options: CoordinatorOptions, journal: Journal, dispatcher: Dispatcher) {
    this.#o = options;
    this.#journal = journal;
    this.#dispatcher = dispatcher;
    this.#trigger = options.trigger;
    this.#picture = createPicture(options, journal, this.#startedAt);
  }

  /** A task changed by itself: its attempt tokens die with it, and the pictures follow. */
  onStatus({ task_id, payload }: FrameOf<'task.status'>): void {
    if (payload.state === 'done' || payload.state === 'failed') this.#o.revokeTask(task_id);
    this.#comment?.touch();
    void this.#picture.look().catch(() => {}); // only for showing
  }

  /** A worker's question, answered from the context once there is one. */
  async answer(question: string): Promise<string | undefined> {
    const context = this.#context;
    if (!context) return undefined;
    const turn = this.#questions;
    this.#questions += 1;
    const { request } = this.#trigger;
    return answerFromContext({ model: this.#o.flash, question, request, context, turn, signal: this.#stop.signal });
  }

  async go(): Promise<RunOutcome> {
    const { signal, runKey, version, budget, setAside, endLeftovers } = this.#o;
    const interrupt = (): void => this.#end('interrupted');
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    this.#endings.push(() => signal.removeEventListener('abort', interrupt));

    const { write, record } = this.#journal;
    const resumed = record.starts > 0;
    await write({ type: 'run.started', run_key: runKey, pid: process.pid, version, resumed, trigger: this.#trigger });
    if (budget) await write({ type: 'budget.set', ...budget });
    if (setAside) await write({ type: 'state.damaged', path: setAside.path, set_aside: setAside.setAside });
    if (resumed) await endEarlierChildren(this.#journal);
    if (resumed || setAside) await endLeftovers?.();

    let decision: Decision;
    try {
      const taken = await this.#claim();
      if (taken !== undefined) return await this.#leave(taken);
      decision = this.#toldAlready() ?? (await this.#work());
    } catch (error) {
      decision = this.#decisionOf(error);
    }
    return this.#report(decision);
  }

  /**
   * The verdict that an earlier process reached. A green one is proved again as long as that can be done: the log lies on the same disk
   * as everything else, and a row alone must not make a run green. `finish` can run nothing, so it tells what the log says.
   */
  #toldAlready(): Decision | undefined {
    const { verdict } = this.#journal.record;
    return verdict?.verdict === 'green' && !this.#o.impossible ? undefined : verdict;
  }

  /** Makes this run the one that answers; returns why it is not. */
  async #claim(): Promise<string | undefined> {
    const { forge, runKey, log, setAside, mentionsEveryMs: everyMs = 30_000 } = this.#o;
    if (!forge) return undefined;
    await this.#step('claim');
    const { language, isRetry } = this.#trigger;
    const journal = this.#journal;
    const now = Date.now();
    const body = firstBody(runKey, `### ${textsFor(language).working}`, now + LIVE_FOR_MS);
    const claim = await claimThread({ forge, journal, language, isRetry, body, now, logLost: setAside !== undefined });
    if (claim.kind === 'taken') return claim.reason;
    const { commentId } = claim;
    const comment = startLiveComment({ forge, commentId, log, render: () => this.#picture.progress() });
    this.#comment = comment;
    journal.onChange(() => comment.touch());
    const onStop = (author: string): void => {
      this.#end('cancelled', this.#say(`${author} 要求停止。`, `${author} asked to stop.`));
    };
    const after = await watchFrom(forge, this.#trigger, commentId);
    this.#endings.push(watchMentions({ forge, journal, after, everyMs, log, onStop }));
    return undefined;
  }

  async #work(): Promise<Decision> {
    const { impossible, client, spawn, log, forge, flow } = this.#o;
    if (impossible) throw new RunEnd(impossible);
    const opened = await this.#prepare();
    const deadline = watchDeadline(this.#trigger, this.#startedAt, (end) => this.#stop.abort(end));
    this.#endings.push(() => deadline.cancel());

    await this.#step('context');
    const { show, config, workshop } = opened;
    const context = await readContext({ trigger: this.#trigger, forge, show });
    this.#context = context;
    const crew = gatherCrew({ client, journal: this.#journal, spawn, configured: config.agents, log });
    this.#crew = crew;
    const knownRoles = async (): Promise<string[]> => {
      const here = (await client.agents()).flatMap(({ roles }) => roles);
      return [...new Set([...BUILT_IN_ROLES, ...config.agents.map(({ role }) => role), ...here])];
    };
    await planFlow({ journal: this.#journal, given: flow, show, knownRoles: await knownRoles() });

    await this.#step('work');
    const work = new Work({
      trigger: this.#trigger,
      context,
      journal: this.#journal,
      dispatcher: this.#dispatcher,
      crew,
      workshop,
      knownRoles,
      signal: this.#stop.signal,
      revokeTask: this.#o.revokeTask,
      mayStart: () => this.#mayStart(deadline),
    });
    return finishWork(await work.run(), {
      trigger: this.#trigger,
      title: context.title,
      journal: this.#journal,
      work,
      opened,
      forge,
      judge: this.#o.judge,
      runKey: this.#o.runKey,
      signal: this.#stop.signal,
      step: (name) => this.#step(name),
    });
  }

  /** Opens the repository and tells what limits the run; ends it where it is impossible. */
  async #prepare(): Promise<OpenedWorkshop> {
    await this.#step('preflight');
    const opened = await this.#o.openWorkshop();
    const { config, workshop, missing, leftOut } = opened;
    if (config.language) this.#speak(config.language);
    checkAllowed(this.#trigger, config.allow);
    const problem = this.#o.configure?.(config);
    if (problem) throw new RunEnd(problem);
    await this.#journal.write({ type: 'commands.chosen', commands: [...workshop.commands] });
    const limits = await checkPreflight({
      trigger: this.#trigger,
      stateDir: this.#o.stateDir,
      missing,
      now: Date.now(),
    });
    await this.#journal.write({ type: 'preflight.finished', limits });
    if (leftOut.length > 0 && this.#journal.record.notes.length === 0) {
      const list = leftOut.slice(0, 20).join(', ');
      const body = this.#say(
        `未提交的改动没有纳入本次运行：${list}`,
        `Uncommitted changes are not part of this run: ${list}`,
      );
      await this.#journal.write({ type: 'comment.noted', by: 'coordinator', body });
    }
    return opened;
  }

  #mayStart(deadline: Deadline): void {
    this.#stop.signal.throwIfAborted();
    // a program of others may not say why it failed
    if (this.#o.budgetSpent?.()) endRun('budget', '', adviceFor('budget', this.#trigger));
    deadline.mayStart();
  }

  /** Ends the run from outside its own course. */
  #end(cause: Cause, message = ''): void {
    this.#stop.abort(new RunEnd(decide(cause, message, adviceFor(cause, this.#trigger))));
  }

  #decisionOf(error: unknown): Decision {
    const end = this.#stop.signal.aborted ? this.#stop.signal.reason : error;
    if (end instanceof RunEnd) return end.decision;
    this.#o.log.error({ error }, 'the run ended by an error');
    const cause = causeOfError(error);
    return decide(cause, this.#o.masker.mask(messageOf(error)), adviceFor(cause, this.#trigger));
  }

  async #report(reached: Decision): Promise<RunOutcome> {
    const decision = await this.#inWords(reached);
    const { forge, client, runKey, log, masker, signal } = this.#o;
    for (const end of this.#endings.splice(0)) end();
    const known = this.#journal.record.verdict;
    if (known?.verdict !== decision.verdict || known?.cause !== decision.cause) {
      const { verdict, cause, message, nextStep, rerunHelps } = decision;
      const told = { verdict, cause, message: masker.mask(message), next_step: nextStep, rerun_helps: rerunHelps };
      await this.#journal.write({ type: 'verdict.reached', ...told });
    }
    const hurried = decision.cause === 'interrupted';
    const stopping = this.#crew?.stop(hurried ? 1_000 : 3_000);
    if (forge && !hurried) this.#picture.logUrl = await attachLog({ client, forge, runKey, masker, log });
    const report = await this.#picture.final();
    try {
      await this.#comment?.finish(report);
    } finally {
      await stopping;
    }
    const exit = exitOf(decision, signal.reason === 'SIGINT' ? 'SIGINT' : 'SIGTERM');
    await this.#journal.write({ type: 'run.finished', exit });
    return { exit, decision, view: await this.#picture.look(), report };
  }

  /** A budget that ended the run is told in the language of the request, from the record. */
  async #inWords(decision: Decision): Promise<Decision> {
    if (decision.cause !== 'budget') return decision;
    return { ...decision, message: budgetMessage(await this.#picture.look()) ?? decision.message };
  }

  async #leave(taken: string): Promise<RunOutcome> {
    for (const end of this.#endings.splice(0)) end();
    await this.#journal.write({ type: 'run.finished', exit: 0 });
    return { exit: 0, decision: decide(null, taken, ''), view: await this.#picture.look(), report: '', taken };
  }

  async #step(step: string): Promise<void> {
    this.#stop.signal.throwIfAborted();
    this.#o.say(`step: ${step}`);
    await this.#journal.write({ type: 'step.entered', step });
    await this.#picture.look();
  }

  #speak(language: Trigger['language']): void {
    this.#trigger = { ...this.#trigger, language };
    this.#picture.language = language;
  }

  #say(zh: string, en: string): string {
    return this.#trigger.language === 'zh-CN' ? zh : en;
  }
}
