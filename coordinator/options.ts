import type { Log } from '../base/log.ts';
import type { Masker } from '../base/mask.ts';
import type { Model } from '../core/model.ts';
import type { HubClient } from '../hub-client/index.ts';
import type { BudgetLimits } from '../protocol/index.ts';
import type { SpawnAgent } from './crew.ts';
import type { DeliveryRemote } from './deliver.ts';
import type { Forge } from './forge.ts';
import type { RepoConfig } from './repo-config.ts';
import type { RunView } from './report/view.ts';
import type { Trigger } from './trigger.ts';
import type { Decision } from './verdict.ts';
import type { Workshop } from './workshop.ts';

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
  /** What the run may use; for showing it. */
  readonly budget?: BudgetLimits;
  /** Whether the budget is used up, so that no task can do anything any more. */
  readonly budgetSpent?: () => boolean;
  /** Opens the repository; called once the comment is there. */
  readonly openWorkshop: () => Promise<OpenedWorkshop>;
  /** Told what the repository says about itself, before any model is asked; what it returns ends the run. */
  readonly configure?: (config: RepoConfig) => Decision | undefined;
  /** Flow given with `--flow`; wins over the repository's file. */
  readonly flow?: { readonly text: string; readonly where: string };
  /** A reason that the run cannot go on at all, found while it was set up; it is told in the comment. */
  readonly impossible?: Decision;
  /** A damaged file that was set aside while the run was set up. */
  readonly setAside?: { readonly path: string; readonly setAside: string };
  /** Ends whatever an earlier process of this run started and left, beyond the children that the log names. */
  readonly endLeftovers?: () => Promise<unknown>;
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
  /** Milliseconds between two looks for new comments; default 30,000. */
  readonly mentionsEveryMs?: number;
}

/** The repository, opened for a run. */
export interface OpenedWorkshop {
  readonly workshop: Workshop;
  readonly remote: DeliveryRemote;
  readonly config: RepoConfig;
  /** Reads a file of the base commit. */
  readonly show: (path: string) => Promise<string | undefined>;
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
