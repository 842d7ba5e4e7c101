import { randomBytes } from 'node:crypto';
import type {
  FakeComment,
  FakeInlineComment,
  FakeIssue,
  FakePull,
  FakeRepository,
  FakeReview,
  Person,
} from './world.ts';

type Json = Record<string, unknown>;

/** Adds a field no client knows: the platform does so every few weeks. */
function grow(json: Json): Json {
  return Math.random() < 0.3
    ? { ...json, [`new_${randomBytes(3).toString('hex')}`]: Math.random() < 0.5 ? null : { a: [1] } }
    : json;
}

export function personShape(person: Person): Json {
  return grow({ username: person.username, nickname: person.nickname, is_npc: person.npc !== undefined });
}

export function commentShape(comment: FakeComment): Json {
  return grow({
    id: comment.id,
    body: comment.body,
    author: personShape(comment.author),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    reactions: [],
  });
}

export function reviewShape(review: FakeReview): Json {
  return { ...commentShape(review), state: review.state };
}

export function inlineShape(comment: FakeInlineComment, review: FakeReview): Json {
  return {
    ...commentShape(comment),
    path: comment.path,
    subject_type: comment.subjectType,
    start_line: comment.startLine,
    end_line: comment.endLine,
    start_side: comment.side,
    end_side: comment.side,
    review_id: review.id,
    review_state: review.state,
    reply_to_comment_id: comment.replyTo ?? '',
    diff_hunk: [],
  };
}

/** `withBody` false: the form that lists have. */
export function issueShape(issue: FakeIssue, withBody = true): Json {
  return grow({
    number: issue.number,
    title: issue.title,
    ...(withBody && { body: issue.body }),
    state: issue.state,
    state_reason: issue.stateReason,
    priority: '',
    author: personShape(issue.author),
    assignees: issue.assignees.map((username) => ({ username, nickname: username })),
    labels: issue.labels.map((name) => ({ id: name, name, color: '#888888', description: '' })),
    comment_count: issue.comments.length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    last_acted_at: issue.updatedAt,
  });
}

export function pullShape(pull: FakePull, repository: FakeRepository, form: 'detail' | 'list' = 'detail'): Json {
  const end = (slug: string, branch: string, sha: string): Json => ({
    ref: `refs/heads/${branch}`,
    sha,
    repo: { id: repository.id, name: slug.split('/').at(-1), path: slug, web_url: '' },
  });
  return grow({
    number: pull.number,
    title: pull.title,
    ...(form === 'detail'
      ? { body: pull.body }
      : { comment_count: pull.comments.length, review_count: pull.reviews.length }),
    state: pull.state,
    author: personShape(pull.author),
    head: end(pull.head.slug, pull.head.branch, pull.headSha),
    base: end(repository.slug, pull.base, pull.baseSha),
    blocked_on: pull.mergeSha === '' ? 'conflict' : '',
    is_wip: /^(wip|draft)\b/i.test(pull.title),
    ...(pull.mergedBy && { merged_by: personShape(pull.mergedBy) }),
    mergeable_state: mergeableState(pull),
    labels: pull.labels.map((name) => ({ id: name, name })),
    reviewers: [],
    assignees: pull.assignees.map((username) => ({ username, nickname: username })),
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    last_acted_at: pull.updatedAt,
  });
}

export function mergeableState(pull: FakePull): string {
  if (pull.state === 'merged') return 'merged';
  if (pull.checksLeft > 0) return 'checking';
  return pull.mergeSha === '' ? 'conflict' : 'mergeable';
}

export function repositoryShape(repository: FakeRepository, web: string): Json {
  return grow({
    id: repository.id,
    name: repository.slug.split('/').at(-1),
    path: repository.slug,
    web_url: web,
    description: '',
    visibility_level: repository.visibility,
    status: 0,
    ...(repository.forkOf !== undefined && { forked_from_repo: { path: repository.forkOf } }),
  });
}
