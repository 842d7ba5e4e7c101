/** What started a run, made by `cnb/` from the environment or by `cli` from `--goal`. */
export interface Trigger {
  /** The request itself, without the mention. */
  readonly request: string;
  /** The platform dropped the request's text for its size: `request` is empty until it has been read from the thread by its id. */
  readonly requestDropped?: true;
  /** Language the user is answered in. */
  readonly language: 'zh-CN' | 'en';
  /** Where on the platform it stands; absent for `--goal`. */
  readonly thread?: ThreadRef;
  readonly actor: string;
  /** Name the agent was addressed by. */
  readonly role: string;
  /** Whether the run may write code (CNB's work mode). Always true for `--goal`. */
  readonly workMode: boolean;
  /** Absolute path of the checkout. */
  readonly workspace: string;
  /** Branch that the work starts from and that a pull request goes to. */
  readonly baseBranch: string;
  /** The user's own branch, when the thread is a pull request of this repository. */
  readonly pullBranch?: string;
  /** Source repository, when the pull request comes from a fork. */
  readonly forkSlug?: string;
  /** Position of an inline review comment. */
  readonly inline?: { readonly path: string; readonly range: string };
  readonly buildUrl?: string;
  /** When the platform ends the build, ms since epoch. */
  readonly deadline?: number;
  /** A rebuild asked for by a person. */
  readonly isRetry: boolean;
}

export interface ThreadRef {
  readonly slug: string;
  readonly kind: 'issue' | 'pr';
  readonly number: string;
  /** Comment id, `review-<id>`, or `description`. */
  readonly occasion: string;
}

/** Reading the environment came to one of these. `not_for_us` ends with one line and exit 0. */
export type TriggerReading =
  | { readonly kind: 'run'; readonly trigger: Trigger }
  | { readonly kind: 'not_for_us'; readonly reason: string }
  /** For us, but it cannot be done: a comment is posted when `thread` is known. */
  | {
      readonly kind: 'impossible';
      readonly cause: 'misconfigured' | 'needs_input';
      readonly message: string;
      readonly trigger?: Trigger;
    }
  /** Not even the thread is known: exit 2. */
  | { readonly kind: 'unusable'; readonly message: string };
