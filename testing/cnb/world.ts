import { randomBytes, randomInt } from 'node:crypto';

/** Roles of a repository's members, lowest first. */
export const accessLevels = ['Unknown', 'Guest', 'Reporter', 'Developer', 'Master', 'Owner'] as const;
export type AccessLevel = (typeof accessLevels)[number];

/** Somebody who can write: a person, or an NPC when `npc` says which. */
export interface Person {
  readonly username: string;
  readonly nickname: string;
  readonly access: AccessLevel;
  readonly npc?: { readonly slug: string; readonly name: string };
}

/** A comment with every text it ever had. */
export interface FakeComment {
  readonly id: string;
  readonly author: Person;
  body: string;
  readonly createdAt: string;
  updatedAt: string;
  /** Oldest first; the first is the text it was made with. `at` in ms since epoch. */
  readonly edits: { readonly at: number; readonly body: string }[];
}

export interface FakeInlineComment extends FakeComment {
  readonly path: string;
  readonly subjectType: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly side: string;
  readonly replyTo?: string;
}

export interface FakeReview extends FakeComment {
  readonly state: 'approved' | 'changes_requested' | 'commented' | 'dismissed' | 'pending';
  readonly comments: FakeInlineComment[];
}

interface FakeThread {
  readonly id: string;
  readonly number: string;
  readonly author: Person;
  readonly createdAt: string;
  readonly comments: FakeComment[];
  title: string;
  body: string;
  updatedAt: string;
  labels: string[];
  assignees: string[];
}

export interface FakeIssue extends FakeThread {
  readonly kind: 'issue';
  state: 'open' | 'closed';
  stateReason: string;
}

export interface FakePull extends FakeThread {
  readonly kind: 'pr';
  readonly head: { readonly slug: string; readonly branch: string };
  readonly base: string;
  readonly reviews: FakeReview[];
  state: 'open' | 'closed' | 'merged';
  headSha: string;
  baseSha: string;
  /** The pre-merged commit; empty on a conflict. */
  mergeSha: string;
  /** How many more times `mergeable_state` says `checking`. */
  checksLeft: number;
  mergedBy?: Person;
}

export interface FakeRepository {
  readonly id: string;
  readonly slug: string;
  /** The bare repository. */
  readonly folder: string;
  readonly defaultBranch: string;
  readonly visibility: 'Public' | 'Private';
  readonly forkOf?: string;
  readonly threads: Map<string, FakeIssue | FakePull>;
}

/** What the pipeline learns of a role when it is mentioned. */
export interface NpcRole {
  readonly slug: string;
  readonly name: string;
  readonly prompt?: string;
  readonly slogan?: string;
}

/** What a token may do. `repository` undefined: everything its person may see (a personal token). */
export interface Token {
  readonly value: string;
  readonly person: Person;
  readonly repository?: string;
  readonly scopes: ReadonlySet<string>;
  readonly workMode: boolean;
  expired: boolean;
}

export interface Asset {
  readonly id: string;
  readonly link: string;
  readonly type: string;
  bytes?: Buffer;
}

/** Everything the fake platform knows, apart from git. */
export interface World {
  readonly repositories: Map<string, FakeRepository>;
  readonly people: Map<string, Person>;
  readonly tokens: Map<string, Token>;
  readonly npcs: Map<string, NpcRole>;
  readonly assets: Map<string, Asset>;
  /** Ids grow and lie beyond 2^53, as the platform's do. */
  nextId(): string;
}

export function createWorld(): World {
  let last = 2_086_360_222_186_463_232n;
  return {
    repositories: new Map(),
    people: new Map(),
    tokens: new Map(),
    npcs: new Map(),
    assets: new Map(),
    nextId() {
      last += BigInt(randomInt(1, 4096));
      return String(last);
    },
  };
}

/** A random token, made at run time so that no file holds one. */
export function drawToken(): string {
  return randomBytes(18).toString('base64url');
}

/** Time as the API writes it. */
export function timestamp(): string {
  return new Date().toISOString();
}

export function newComment(world: World, author: Person, body: string): FakeComment {
  const at = timestamp();
  return { id: world.nextId(), author, body, createdAt: at, updatedAt: at, edits: [{ at: Date.now(), body }] };
}

/** The number that the next issue or pull request gets; both count together. */
export function nextNumber(repository: FakeRepository): string {
  return String(repository.threads.size + 1);
}
