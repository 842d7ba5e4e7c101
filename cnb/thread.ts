import type { Author, Thread, ThreadComment } from '../coordinator/forge.ts';
import type { ThreadRef } from '../coordinator/trigger.ts';
import { apiPath, type CnbApi } from './api.ts';
import { type NpcIdentity, requestTo } from './mention.ts';
import { Comment, Issue, Pull, Review, ReviewComment } from './schemas.ts';

/** The reading half of the forge: one thread with its comments, and for pull requests its reviews. */
export interface ThreadReader {
  readThread(): Promise<Thread>;
  readCommentsAfter(commentId: string): Promise<readonly ThreadComment[]>;
  readRequestText(): Promise<string | undefined>;
  /** The newest comment with exactly this body that is not older than `since` (RFC 3339); undefined when there is none. */
  newestWith(body: string, since: string): Promise<ThreadComment | undefined>;
}

/** A reader of the thread at `threadPath`. */
export function createThreadReader(
  api: CnbApi,
  at: { readonly thread: ThreadRef; readonly threadPath: string; readonly self: NpcIdentity },
): ThreadReader {
  const { thread, threadPath, self } = at;
  const comments = `${threadPath}/comments`;

  async function reviews(): Promise<readonly ThreadComment[]> {
    const found: ThreadComment[] = [];
    if (thread.kind === 'issue') return found;
    for await (const review of api.list(`${threadPath}/reviews`, Review)) {
      if (review.body !== '') found.push({ ...toComment(review, self), id: `review-${review.id}` });
      const remarks = threadPath + apiPath('reviews', review.id, 'comments');
      for await (const remark of api.list(remarks, ReviewComment)) found.push(toInline(remark, self));
    }
    return found;
  }

  return {
    async readThread() {
      const head = await api.get(threadPath, thread.kind === 'issue' ? Issue : Pull);
      const all: ThreadComment[] = [];
      for await (const comment of api.list(comments, Comment)) all.push(toComment(comment, self));
      all.push(...(await reviews()));
      return {
        title: head.title,
        body: head.body,
        author: authorOf(head),
        state: head.state,
        comments: all.sort(byAge),
      };
    },
    async readCommentsAfter(commentId) {
      const newer: ThreadComment[] = [];
      for await (const comment of api.list(comments, Comment)) {
        if (compareIds(comment.id, commentId) > 0) newer.push(toComment(comment, self));
      }
      return newer.sort(byAge);
    },
    async readRequestText() {
      const { occasion } = thread;
      if (occasion === 'description') return (await api.get(threadPath, thread.kind === 'issue' ? Issue : Pull)).body;
      if (!occasion.startsWith('review-')) {
        for await (const comment of api.list(comments, Comment)) {
          if (comment.id === occasion) return comment.body;
        }
      }
      return (await reviews()).find(({ id }) => id === occasion)?.body;
    },
    async newestWith(body, since) {
      let newest: Comment | undefined;
      for await (const comment of api.list(comments, Comment)) {
        if (comment.body === body && Date.parse(comment.created_at) >= Date.parse(since)) newest = comment;
      }
      return newest && toComment(newest, self);
    },
  };
}

/** Our shape of a comment; `request` is filled when it mentions `self`. */
export function toComment(comment: Comment, self: NpcIdentity): ThreadComment {
  const request = requestTo(self, comment.body);
  return {
    id: comment.id,
    author: authorOf(comment),
    body: comment.body,
    createdAt: comment.created_at,
    ...(request !== undefined && { request }),
  };
}

function toInline(remark: ReviewComment, self: NpcIdentity): ThreadComment {
  const lines = [remark.start_line, remark.end_line].filter((line) => line != null).map((line) => `L${line}`);
  return { ...toComment(remark, self), inline: { path: remark.path, range: [...new Set(lines)].join('-') } };
}

function authorOf(item: Pick<Comment, 'author' | 'user'>): Author {
  const person = item.author ?? item.user;
  return { username: person?.username ?? '', isNpc: person?.is_npc === true };
}

function byAge(a: ThreadComment, b: ThreadComment): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt) || compareIds(a.id, b.id);
}

/** Ids are numbers beyond 2^53 that grow with time. */
function compareIds(a: string, b: string): number {
  const [left, right] = [a.replace(/^review-/, ''), b.replace(/^review-/, '')];
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}
