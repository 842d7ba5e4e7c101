import { git, mergeCommit, tryGit } from './git.ts';
import { notFound, Refusal } from './http.ts';
import { covers } from './scopes.ts';
import {
  accessLevels,
  type FakeComment,
  type FakeInlineComment,
  type FakeIssue,
  type FakePull,
  type FakeRepository,
  type FakeReview,
  newComment,
  nextNumber,
  type Person,
  timestamp,
  type World,
} from './world.ts';

/** A text somebody wrote for the first time, in which mentions may stand. */
export interface Occasion {
  readonly repository: FakeRepository;
  readonly thread: FakeIssue | FakePull;
  readonly author: Person;
  readonly text: string;
  readonly workMode: boolean;
  readonly comment?: FakeComment;
  readonly review?: FakeReview;
  readonly inline?: FakeInlineComment;
}

/** What happens on the platform: every act changes the world and announces the text that came with it. */
export interface Platform {
  openIssue(at: {
    repository: FakeRepository;
    author: Person;
    title: string;
    body: string;
    workMode: boolean;
  }): FakeIssue;
  openPull(at: PullOpening): Promise<FakePull>;
  comment(at: {
    repository: FakeRepository;
    thread: FakeIssue | FakePull;
    author: Person;
    body: string;
    workMode: boolean;
  }): FakeComment;
  review(at: ReviewOpening): FakeReview;
  reply(at: {
    repository: FakeRepository;
    pull: FakePull;
    review: FakeReview;
    author: Person;
    body: string;
    to: string;
  }): FakeInlineComment;
  /** Brings head, base and pre-merged commit of a pull request up to date. */
  refresh(repository: FakeRepository, pull: FakePull): Promise<void>;
  merge(
    repository: FakeRepository,
    pull: FakePull,
    by: Person,
    order: { style: string; title: string; message: string },
  ): Promise<string>;
}

interface PullOpening {
  readonly repository: FakeRepository;
  readonly author: Person;
  readonly title: string;
  readonly body: string;
  readonly base: string;
  readonly head: string;
  readonly headSlug?: string;
  readonly workMode: boolean;
}

export interface ReviewOpening {
  readonly repository: FakeRepository;
  readonly pull: FakePull;
  readonly author: Person;
  readonly event: string;
  readonly body: string;
  readonly comments: readonly {
    path: string;
    body: string;
    subject_type?: string;
    start_line?: number;
    end_line?: number;
    end_side?: string;
  }[];
  readonly workMode: boolean;
}

const reviewStates: Readonly<Record<string, FakeReview['state']>> = {
  approve: 'approved',
  comment: 'commented',
  request_changes: 'changes_requested',
  pending: 'pending',
};

export function createPlatform(
  world: World,
  options: { readonly announce: (occasion: Occasion) => void; readonly checksFirst: () => number },
): Platform {
  function announce(occasion: Occasion): void {
    const developer = accessLevels.indexOf(occasion.author.access) >= accessLevels.indexOf('Developer');
    options.announce({ ...occasion, workMode: occasion.workMode && (developer || occasion.author.npc !== undefined) });
  }

  function threadParts(repository: FakeRepository, at: { author: Person; title: string; body: string }) {
    const now = timestamp();
    const { author, title, body } = at;
    const texts = { author, title, body, createdAt: now, updatedAt: now };
    return { id: world.nextId(), number: nextNumber(repository), ...texts, comments: [], labels: [], assignees: [] };
  }

  async function refresh(repository: FakeRepository, pull: FakePull): Promise<void> {
    if (pull.state !== 'open') return;
    const source = world.repositories.get(pull.head.slug);
    const headRef = `refs/pull/${pull.number}/head`;
    if (source)
      await tryGit(repository.folder, 'fetch', '-q', source.folder, `+refs/heads/${pull.head.branch}:${headRef}`);
    const headSha = (await tryGit(repository.folder, 'rev-parse', '-q', '--verify', headRef)) ?? pull.headSha;
    const baseSha =
      (await tryGit(repository.folder, 'rev-parse', '-q', '--verify', `refs/heads/${pull.base}`)) ?? pull.baseSha;
    if (headSha === pull.headSha && baseSha === pull.baseSha) return;
    const message = `Merge ${pull.head.branch} into ${pull.base}`;
    pull.headSha = headSha;
    pull.baseSha = baseSha;
    pull.mergeSha = (await mergeCommit(repository.folder, { base: baseSha, head: headSha, message })) ?? '';
    if (pull.mergeSha !== '')
      await git(repository.folder, 'update-ref', `refs/pull/${pull.number}/merge`, pull.mergeSha);
  }

  return {
    refresh,
    openIssue({ repository, author, title, body, workMode }) {
      const parts = threadParts(repository, { author, title, body });
      const issue: FakeIssue = { kind: 'issue', ...parts, state: 'open', stateReason: 'open' };
      repository.threads.set(issue.number, issue);
      announce({ repository, thread: issue, author, text: body, workMode });
      return issue;
    },
    async openPull({ repository, author, title, body, base, head, headSlug = repository.slug, workMode }) {
      const source = world.repositories.get(headSlug);
      const known = source && (await tryGit(source.folder, 'rev-parse', '-q', '--verify', `refs/heads/${head}`));
      if (!known) throw notFound(`branch ${head}`);
      if (!(await tryGit(repository.folder, 'rev-parse', '-q', '--verify', `refs/heads/${base}`)))
        throw notFound(`branch ${base}`);
      for (const other of repository.threads.values()) {
        const same = other.kind === 'pr' && other.state === 'open' && other.head.branch === head && other.base === base;
        if (same && other.head.slug === headSlug) throw new Refusal(409, 2_009_001, 'pull request already exists');
      }
      const parts = threadParts(repository, { author, title, body });
      const shas = { headSha: '', baseSha: '', mergeSha: '' };
      const where = { head: { slug: headSlug, branch: head }, base, ...shas, checksLeft: options.checksFirst() };
      const pull: FakePull = { kind: 'pr', ...parts, ...where, reviews: [], state: 'open' };
      repository.threads.set(pull.number, pull);
      await refresh(repository, pull);
      announce({ repository, thread: pull, author, text: body, workMode });
      return pull;
    },
    comment({ repository, thread, author, body, workMode }) {
      const comment = newComment(world, author, body);
      thread.comments.push(comment);
      thread.updatedAt = comment.createdAt;
      announce({ repository, thread, author, text: body, workMode, comment });
      return comment;
    },
    review({ repository, pull, author, event, body, comments, workMode }) {
      const state = reviewStates[event];
      if (state === undefined) throw new Refusal(400, 2_000_001, `bad event ${event}`);
      if (comments.length > 10) throw new Refusal(422, 2_000_002, 'too many comments in one review');
      const remarks = comments.map((remark): FakeInlineComment => {
        const { subject_type: subjectType = 'line', start_line: start, end_line: end } = remark;
        if (subjectType === 'line' && (start === undefined || end === undefined || remark.end_side === undefined)) {
          throw new Refusal(400, 2_000_003, 'line comments need start_line, end_line, start_side and end_side');
        }
        const place = { startLine: start ?? 0, endLine: end ?? start ?? 0, side: remark.end_side ?? 'right' };
        return { ...newComment(world, author, remark.body), path: remark.path, subjectType, ...place };
      });
      const review: FakeReview = { ...newComment(world, author, body), state, comments: remarks };
      pull.reviews.push(review);
      announce({ repository, thread: pull, author, text: body, workMode, review });
      for (const inline of remarks)
        announce({ repository, thread: pull, author, text: inline.body, workMode, review, inline });
      return review;
    },
    reply({ repository, pull, review, author, body, to }) {
      const parent = review.comments.find(({ id }) => id === to);
      if (!parent) throw notFound(`comment ${to}`);
      const { path, subjectType, startLine, endLine, side } = parent;
      const inline = { ...newComment(world, author, body), path, subjectType, startLine, endLine, side, replyTo: to };
      review.comments.push(inline);
      announce({ repository, thread: pull, author, text: body, workMode: false, review, inline });
      return inline;
    },
    async merge(repository, pull, by, { style, title, message }) {
      await refresh(repository, pull);
      if (pull.state !== 'open') throw new Refusal(409, 2_009_013, `the pull request is ${pull.state}`);
      if (pull.checksLeft > 0) {
        pull.checksLeft -= 1;
        throw new Refusal(409, 2_009_014, 'the merge is not ready, try again later');
      }
      if (pull.mergeSha === '') throw new Refusal(409, 2_009_015, 'the merge has conflicts');
      const parents = style === 'merge' ? [pull.baseSha, pull.headSha] : [pull.baseSha];
      const text = [title, message].filter(Boolean).join('\n\n') || `Merge ${pull.head.branch}`;
      const sha =
        (await mergeCommit(repository.folder, { base: pull.baseSha, head: pull.headSha, message: text, parents })) ??
        '';
      await git(repository.folder, 'update-ref', `refs/heads/${pull.base}`, sha, pull.baseSha);
      const source = world.repositories.get(pull.head.slug);
      if (source) await tryGit(source.folder, 'update-ref', '-d', `refs/heads/${pull.head.branch}`);
      pull.state = 'merged';
      pull.mergedBy = by;
      return sha;
    },
  };
}

/** The issue or pull request with this number, or a 404. */
export function findThread<K extends 'issue' | 'pr'>(
  repository: FakeRepository,
  kind: K,
  number: string,
): K extends 'issue' ? FakeIssue : FakePull {
  const thread = repository.threads.get(number);
  if (thread?.kind !== kind) throw notFound(`${kind} ${number}`);
  return thread as K extends 'issue' ? FakeIssue : FakePull;
}

/** Throws the platform's 403 unless the scopes cover what is needed. */
export function demandScope(granted: ReadonlySet<string>, needed: string): void {
  if (!covers(granted, needed)) throw new Refusal(403, 10_023, `Missing required scopes: ${needed}`);
}
