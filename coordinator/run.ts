import { AppError, messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Masker } from '../base/mask.ts';
import type { Model } from '../core/model.ts';
import type { HubClient } from '../hub-client/index.ts';
import type { FrameOf, TaskRow } from '../protocol/index.ts';
import { adviceFor } from './advice.ts';
import { answerFromContext } from './answer.ts';
import { claimThread, firstBody } from './claim.ts';
import { type RunContext, readContext } from './context.ts';
import { type Crew, endEarlierChildren, gatherCrew, type SpawnAgent } from './crew.ts';
import { branchNames, type DeliveryRemote, deliver } from './deliver.ts';
import { createDispatcher, type Dispatcher } from './dispatch.ts';
import { attachLog } from './ending.ts';
import { planFlow } from './flow-plan.ts';
import type { Forge } from './forge.ts';
import { type Journal, openJournal } from './journal.ts';
import { LIVE_FOR_MS, type LiveComment, startLiveComment } from './live-comment.ts';
import { watchMentions } from './mention-watch.ts';
import { postReview } from './post-review.ts';
import { checkPreflight } from './preflight.ts';
import { renderFinal, renderProgress } from './report/render.ts';
import { textsFor } from './report/texts.ts';
import type { Delivered, RunView } from './report/view.ts';
import { hermesReview } from './review.ts';
import type { Trigger } from './trigger.ts';
import { type Decision, decide, endRun, exitOf, RunEnd } from './verdict.ts';
import { Work, type WorkEnd } from './work.ts';
import type { Workshop } from './workshop.ts';

/** Roles that every run can start by itself. */
export const BUILT_IN_ROLES = ['architect', 'coder', 'reviewer', 'verifier'] as const;

/** All that a run needs from outside; `cli` wires it. */
export interface CoordinatorOptions {
  readonly trigger: Trigger;
  readonly runKey: string;
  readonly version: string;
  /** Absent for `--goal`. */
  readonly forge?: Forge;
  readonly client: HubClient;
  /** Names whose run events count beside the coordinator's own. */
  readonly trusted: readonly string[];
  readonly spawn: SpawnAgent;
  readonly judge: Model;
  readonly flash: Model;
  /** The attempt tokens of a task die with it. */
  readonly revokeTask: (taskId: string) => void;
  /** Opens the repository; called once the comment is there. */
  readonly openWorkshop: (journal: Journal) => Promise<OpenedWorkshop>;
  /** Flow given with `--flow`; wins over the repository's file. */
  readonly flow?: { readonly text: string; readonly where: string };
  /** A reason that the run cannot go on at all, found while it was set up; it is told in the comment. */
  readonly impossible?: Decision;
  /** A damaged file that was set aside while the run was set up. */
  readonly setAside?: { readonly path: string; readonly setAside: string };
  readonly stateDir: string;
  /** Masks what leaves the process: comment and attached log. */
  readonly masker: Masker;
  readonly log: Log;
  /** Aborted by SIGINT or SIGTERM; its reason is the signal's name. */
  readonly signal: AbortSignal;
  /** One line of build output. */
  readonly say: (line: string) => void;
  /** Called when the picture of the run changed. */
  readonly onUpdate?: (view: RunView) => void;
  readonly resume: boolean;
  /** Milliseconds between two looks for new comments; default 30,000. */
  readonly mentionsEveryMs?: number;
}

export interface OpenedWorkshop {
  readonly workshop: Workshop;
  readonly remote: DeliveryRemote;
  /** Reads a file of the base commit. */
  readonly show: (path: string) => Promise<string | undefined>;
  readonly configured: readonly { readonly role: string; readonly exec: string }[];
  readonly missing: readonly { readonly program: string; readonly cure: string }[];
  /** Uncommitted changes of the checkout that are not part of the run. */
  readonly leftOut: readonly string[];
}

export interface RunOutcome {
  readonly exit: number;
  readonly decision: Decision;
  readonly view: RunView;
  /** The final report, Markdown. */
  readonly report: string;
  /** Somebody else stands for this request: nothing was done and nothing said. */
  readonly taken?: string;
}

/** Runs a request from its claim to its report. Never rejects for what a run can meet: the outcome says it. */
export async function runCoordinator(options: CoordinatorOptions): Promise<RunOutcome> {
  // Handlers stand before anything is awaited, so that no frame that waits in the mailbox passes by.
  let run: Run | undefined;
  const dispatcher = createDispatcher({
    client: options.client,
    onStatus: (status) => run?.onStatus(status),
    answer: async (question) => run?.answer(question),
  });
  const journal = await openJournal(
    options.client,
    options.runKey,
    [options.client.name, ...options.trusted],
    (error) => options.log.error({ error }, 'the log could not be read again'),
  );
  run = new Run(options, journal, dispatcher);
  return run.go();
}

class Run {
  readonly #o: CoordinatorOptions;
  readonly #journal: Journal;
  readonly #dispatcher: Dispatcher;
  readonly #stop = new AbortController();
  readonly #startedAt = Date.now();
  #tasks: readonly TaskRow[] = [];
  #delivered: Delivered = {};
  #answer: string | undefined;
  #logUrl: string | undefined;
  #workshop: Workshop | undefined;
  #crew: Crew | undefined;
  #context: RunContext | undefined;
  #asked = 0;
  #comment: LiveComment | undefined;
  #endings: (() => void)[] = [];

  constructor(options: CoordinatorOptions, journal: Journal, dispatcher: Dispatcher) {
    this.#o = options;
    this.#journal = journal;
    this.#dispatcher = dispatcher;
  }

  /** A task changed by itself: its attempt tokens die with it, and the pictures follow. */
  onStatus({ task_id, payload }: FrameOf<'task.status'>): void {
    if (payload.state === 'done' || payload.state === 'failed') this.#o.revokeTask(task_id);
    const task = task_id.slice(this.#o.runKey.length + 1);
    this.#o.say(`${task}: ${payload.sub_state}${payload.reason ? ` (${payload.reason})` : ''}`);
    this.#comment?.touch();
    void this.#look().catch(() => {}); // only for showing
  }

  /** A worker's question, answered from the context once there is one. */
  async answer(question: string): Promise<string | undefined> {
    const { flash, trigger } = this.#o;
    if (!this.#context) return undefined;
    this.#asked += 1;
    const { request } = trigger;
    const turn = this.#asked - 1;
    return answerFromContext({
      model: flash,
      question,
      request,
      context: this.#context,
      turn,
      signal: this.#stop.signal,
    });
  }

  async go(): Promise<RunOutcome> {
    const { signal, trigger, runKey, version } = this.#o;
    const interrupt = () =>
      this.#stop.abort(new RunEnd(decide('interrupted', '', adviceFor('interrupted', trigger.language))));
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    this.#endings.push(() => signal.removeEventListener('abort', interrupt));

    const resumed = this.#journal.record.starts > 0;
    await this.#journal.write({ type: 'run.started', run_key: runKey, pid: process.pid, version, resumed, trigger });
    if (this.#o.setAside)
      await this.#journal.write({
        type: 'state.damaged',
        path: this.#o.setAside.path,
        set_aside: this.#o.setAside.setAside,
      });
    if (resumed) await endEarlierChildren(this.#journal);

    let decision: Decision;
    try {
      const taken = await this.#claim();
      if (taken !== undefined) return this.#leave(taken);
      decision = this.#journal.record.verdict ?? (await this.#work());
    } catch (error) {
      decision = this.#decisionOf(error);
    }
    return this.#report(decision);
  }

  async #claim(): Promise<string | undefined> {
    const { forge, trigger, runKey } = this.#o;
    if (!forge) return undefined;
    await this.#step('claim');
    const t = textsFor(trigger.language);
    const body = firstBody(runKey, `### ${t.working}`, Date.now() + LIVE_FOR_MS);
    const claim = await claimThread({
      forge,
      journal: this.#journal,
      language: trigger.language,
      isRetry: trigger.isRetry,
      body,
      now: Date.now(),
    });
    if (claim.kind === 'taken') return claim.reason;
    this.#comment = startLiveComment({
      forge,
      commentId: claim.commentId,
      log: this.#o.log,
      render: async () => this.#mask(renderProgress(await this.#look(), this.#footer('live'))),
    });
    this.#journal.onChange(() => this.#comment?.touch());
    this.#endings.push(
      watchMentions({
        forge,
        journal: this.#journal,
        commentId: claim.commentId,
        everyMs: this.#o.mentionsEveryMs ?? 30_000,
        log: this.#o.log,
        onStop: (author) =>
          this.#stop.abort(
            new RunEnd(decide('cancelled', this.#stoppedBy(author), adviceFor('cancelled', trigger.language))),
          ),
      }),
    );
    return undefined;
  }

  async #work(): Promise<Decision> {
    const { trigger, impossible } = this.#o;
    if (impossible) throw new RunEnd(impossible);
    await this.#step('preflight');
    const opened = await this.#o.openWorkshop(this.#journal);
    this.#workshop = opened.workshop;
    const limits = await checkPreflight({
      trigger,
      stateDir: this.#o.stateDir,
      missing: opened.missing,
      now: Date.now(),
    });
    await this.#journal.write({ type: 'preflight.finished', limits });
    if (opened.leftOut.length > 0)
      await this.#journal.write({ type: 'comment.noted', by: 'coordinator', body: this.#leftOutNote(opened.leftOut) });
    this.#watchDeadline();

    await this.#step('context');
    const context = await readContext({ trigger, forge: this.#o.forge, show: opened.show });
    this.#context = context;
    const crew = gatherCrew({
      client: this.#o.client,
      journal: this.#journal,
      spawn: this.#o.spawn,
      configured: opened.configured,
      log: this.#o.log,
    });
    this.#crew = crew;
    const knownRoles = async () => [
      ...new Set([
        ...BUILT_IN_ROLES,
        ...opened.configured.map(({ role }) => role),
        ...(await this.#o.client.agents()).flatMap(({ roles }) => roles),
      ]),
    ];
    await planFlow({ journal: this.#journal, given: this.#o.flow, show: opened.show, knownRoles: await knownRoles() });

    await this.#step('work');
    const work = new Work({
      trigger,
      context,
      journal: this.#journal,
      dispatcher: this.#dispatcher,
      crew,
      workshop: opened.workshop,
      knownRoles,
      signal: this.#stop.signal,
      mayStart: () => this.#mayStart(),
    });
    return this.#finishWork(await work.run(), work, opened, context);
  }

  async #finishWork(end: WorkEnd, work: Work, opened: OpenedWorkshop, context: RunContext): Promise<Decision> {
    const { trigger, forge, judge } = this.#o;
    const { signal } = this.#stop;
    if (end.kind === 'answer') {
      this.#answer = end.text;
      return decide(null, '', '');
    }
    if (end.kind === 'review') {
      const reviewable = trigger.thread?.kind === 'pr' ? forge : undefined;
      await postReview({ journal: this.#journal, forge: reviewable, issues: end.result.issues });
      this.#answer = end.result.summary;
      return decide(null, '', '');
    }
    const reviewed = await hermesReview(end, {
      trigger,
      journal: this.#journal,
      workshop: opened.workshop,
      work,
      judge,
      signal,
    });
    if (reviewed.decision.verdict === 'red') return reviewed.decision;
    await this.#step('deliver');
    const wipBranch = branchNames(trigger, this.#o.runKey).wip;
    const title = context.title;
    const result = await deliver({
      trigger,
      journal: this.#journal,
      forge,
      remote: opened.remote,
      sha: reviewed.sha,
      title,
      wipBranch,
      decision: reviewed.decision,
    });
    this.#delivered = result.delivered;
    return result.decision;
  }

  #mayStart(): void {
    this.#stop.signal.throwIfAborted();
    const { deadline, language } = this.#o.trigger;
    if (deadline !== undefined && Date.now() > this.#share(deadline, 0.85))
      endRun('time_limit', '', adviceFor('time_limit', language));
  }

  #watchDeadline(): void {
    const { deadline, language } = this.#o.trigger;
    if (deadline === undefined) return;
    const wait = Math.min(this.#share(deadline, 0.95) - Date.now(), 2_147_483_647);
    const timer = setTimeout(
      () => this.#stop.abort(new RunEnd(decide('time_limit', '', adviceFor('time_limit', language)))),
      wait,
    );
    this.#endings.push(() => clearTimeout(timer));
  }

  #share(deadline: number, part: number): number {
    return this.#startedAt + (deadline - this.#startedAt) * part;
  }

  #decisionOf(error: unknown): Decision {
    const { language } = this.#o.trigger;
    const end = this.#stop.signal.aborted ? this.#stop.signal.reason : error;
    if (end instanceof RunEnd) return end.decision;
    this.#o.log.error({ error }, 'the run ended by an error');
    const code = error instanceof AppError ? error.code : 'internal';
    const cause =
      code === 'misconfigured' || code === 'disk_full'
        ? code
        : code === 'forge' || code === 'model'
          ? 'upstream_error'
          : 'crashed';
    return decide(cause, this.#mask(messageOf(error)), adviceFor(cause, language));
  }

  async #report(decision: Decision): Promise<RunOutcome> {
    const { forge, client, runKey, log, trigger, masker } = this.#o;
    for (const end of this.#endings.splice(0)) end();
    const { record } = this.#journal;
    if (!record.verdict) {
      const { verdict, cause, message, nextStep, rerunHelps } = decision;
      await this.#journal.write({
        type: 'verdict.reached',
        verdict,
        cause,
        message: this.#mask(message),
        next_step: nextStep,
        rerun_helps: rerunHelps,
      });
    }
    const hurried = decision.cause === 'interrupted';
    const stopping = this.#crew?.stop(hurried ? 1_000 : 3_000);
    if (forge && trigger.thread && !hurried) this.#logUrl = await attachLog({ client, forge, runKey, masker, log });
    const view = await this.#look();
    const report = this.#mask(renderFinal(view, this.#footer('final')));
    try {
      await this.#comment?.finish(report);
    } finally {
      await stopping;
    }
    const exit = exitOf(decision, this.#o.signal.aborted && this.#o.signal.reason === 'SIGINT' ? 'SIGINT' : 'SIGTERM');
    await this.#journal.write({ type: 'run.finished', exit });
    return { exit, decision, view: { ...view, now: Date.now() }, report };
  }

  async #leave(taken: string): Promise<RunOutcome> {
    for (const end of this.#endings.splice(0)) end();
    await this.#journal.write({ type: 'run.finished', exit: 0 });
    return { exit: 0, decision: decide(null, taken, ''), view: await this.#look(), report: '', taken };
  }

  async #step(step: string): Promise<void> {
    this.#stop.signal.throwIfAborted();
    await this.#journal.write({ type: 'step.entered', step });
    await this.#look();
  }

  /** A fresh picture of the run; the task table comes from the hub. */
  async #look(): Promise<RunView> {
    const { trigger, runKey, client, onUpdate } = this.#o;
    this.#tasks = await client.tasks(`${runKey}.`).catch(() => this.#tasks);
    const view: RunView = {
      runKey,
      language: trigger.language,
      record: this.#journal.record,
      tasks: this.#tasks,
      delivered: this.#delivered,
      ...(this.#answer !== undefined && { answer: this.#answer }),
      ...(trigger.buildUrl && { buildUrl: trigger.buildUrl }),
      ...(this.#logUrl && { logUrl: this.#logUrl }),
      commands: this.#workshop?.commands ?? [],
      startedAt: this.#startedAt,
      now: Date.now(),
    };
    onUpdate?.(view);
    return view;
  }

  #footer(state: 'live' | 'final') {
    const verdict = this.#journal.record.verdict?.verdict ?? this.#journal.record.verdict?.cause ?? undefined;
    const marker = {
      runKey: this.#o.runKey,
      state,
      ...(state === 'final' ? { verdict: verdict ?? 'none' } : { liveUntil: Date.now() + LIVE_FOR_MS }),
    };
    return { version: this.#o.version, marker };
  }

  #leftOutNote(paths: readonly string[]): string {
    const list = paths.slice(0, 20).join(', ');
    return this.#o.trigger.language === 'zh-CN'
      ? `未提交的改动没有纳入本次运行：${list}`
      : `Uncommitted changes are not part of this run: ${list}`;
  }

  #stoppedBy(author: string): string {
    return this.#o.trigger.language === 'zh-CN' ? `${author} 要求停止。` : `${author} asked to stop.`;
  }

  #mask(text: string): string {
    return this.#o.masker.mask(text);
  }
}
