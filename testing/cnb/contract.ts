import type { PlatformModel } from './api-models.ts';
import type { Fault } from './faults.ts';
import type { Push } from './git.ts';
import type { LockOptions } from './lock.ts';
import type { Build, StartRun } from './pipeline.ts';
import type { ReviewOpening } from './platform.ts';
import type {
  AccessLevel,
  FakeComment,
  FakeIssue,
  FakePull,
  FakeRepository,
  FakeReview,
  NpcRole,
  Person,
} from './world.ts';

/** Settings of the fake platform; every one has a default that behaves as CNB does. */
export interface CnbServerOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Where bare repositories and work trees lie; it is kept. Without it a temporary folder is used and removed by `close`. */
  readonly folder?: string;
  /** What a mention of a defined NPC starts. Without it a build ends at once and well. */
  readonly startRun?: StartRun;
  readonly failStages?: readonly StartRun[];
  readonly endStages?: readonly StartRun[];
  /** The pipeline's lock per thread: on by default (`wait`, `expires` and `timeout` of 7500 s); false turns it off. */
  readonly lock?: boolean | Partial<LockOptions>;
  /** Default 7,200,000. */
  readonly maxRunTimeMs?: number;
  /** Default 600,000. */
  readonly silenceMs?: number;
  /** What creating a pull request is answered with; default `pull`. */
  readonly pullAnswer?: 'pull' | 'empty';
  /** How often `mergeable_state` is `checking` at first; default 0. */
  readonly checksFirst?: number;
  /** What the platform's own models say; default: the text `ok`. */
  readonly platformModel?: PlatformModel;
}

/** One request as it came in. */
export interface RecordedRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  status: number;
}

/** What every text has. */
export interface Writing {
  readonly slug: string;
  /** User name; made by `createUser`. */
  readonly author: string;
  readonly body?: string;
  readonly workMode?: boolean;
}

/** A running fake platform, and the hands of the people on it. */
export interface CnbServer {
  /** Web address, where git clones from too: `<url>/<slug>`. */
  readonly url: string;
  readonly apiUrl: string;
  /** Where bare repositories and work trees lie. */
  readonly folder: string;
  readonly builds: readonly Build[];
  readonly requests: readonly RecordedRequest[];
  /** Makes a bare repository from a folder or from files. */
  createRepository(repository: {
    readonly slug: string;
    readonly from?: string | Readonly<Record<string, string>>;
    readonly defaultBranch?: string;
    readonly visibility?: 'Public' | 'Private';
    readonly protectedBranches?: readonly string[];
  }): Promise<FakeRepository>;
  forkRepository(fork: { readonly slug: string; readonly of: string }): Promise<FakeRepository>;
  /** Makes a user with a token of their own; Developer by default. */
  createUser(user: {
    readonly username: string;
    readonly nickname?: string;
    readonly access?: AccessLevel;
  }): Person & { readonly token: string };
  /** Makes a role that can be mentioned as `@<slug>(<name>)`; returns that text. */
  defineNpc(npc: NpcRole): string;
  createIssue(issue: Writing & { readonly title: string }): FakeIssue;
  comment(comment: Writing & { readonly number: string; readonly body: string }): FakeComment;
  createPull(
    pull: Writing & {
      readonly title: string;
      readonly head: string;
      readonly base?: string;
      readonly headSlug?: string;
    },
  ): Promise<FakePull>;
  review(
    review: Writing & {
      readonly number: string;
      readonly event?: string;
      readonly comments?: ReviewOpening['comments'];
    },
  ): FakeReview;
  /** An issue or pull request as it stands, with its comments and their former texts. */
  thread(slug: string, number: string): FakeIssue | FakePull;
  issue(slug: string, number: string): FakeIssue;
  pull(slug: string, number: string): Promise<FakePull>;
  pulls(slug: string): readonly FakePull[];
  /** A commit by somebody else, past the API and the hooks. */
  commit(commit: {
    readonly slug: string;
    readonly branch: string;
    readonly files: Readonly<Record<string, string>>;
    readonly message?: string;
  }): Promise<string>;
  /** What was pushed over HTTP, oldest first. */
  pushes(slug: string): Promise<readonly Push[]>;
  /** Delivers what started a build again: `times` builds whose processes start together. `isRetry`: as a rebuild by a person. */
  deliver(build: Build, how?: { readonly times?: number; readonly isRetry?: boolean }): readonly Build[];
  /** The next builds of mentions are delivered so many times each; default 1. */
  deliverTimes(times: number): void;
  cancel(build: Build): void;
  fault(fault: Fault): void;
  /** Changes settings while it runs. */
  configure(options: Omit<CnbServerOptions, 'port' | 'folder' | 'lock'>): void;
  /** Waits until every build has ended. */
  settled(): Promise<void>;
  close(): Promise<void>;
}
