import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Forge, Pull, PullRequestRequest, ReviewRequest, ThreadComment } from '../coordinator/forge.ts';
import type { ThreadRef } from '../coordinator/trigger.ts';
import { type ApiTiming, apiPath, createCnbApi } from './api.ts';
import { maybeApplied, statusOf } from './api-error.ts';
import { uploadAttachment } from './attachment.ts';
import type { CnbConnection } from './connection.ts';
import { gitRemote } from './git-remote.ts';
import { neutraliseMentions } from './neutralise.ts';
import { Comment, PullFile, Pull as PullSchema } from './schemas.ts';
import { createThreadReader, toComment } from './thread.ts';

/** What {@link createCnbForge} needs. */
export interface CnbForgeOptions {
  readonly connection: CnbConnection;
  readonly thread: ThreadRef;
  readonly log: Log;
  /** Ends every request and wait. */
  readonly signal?: AbortSignal;
  readonly timing?: Partial<ApiTiming>;
}

const mostInlineComments = 10;
const Anything = z.unknown();

/** A {@link Forge} over the CNB API for one thread. Everything it writes is first made unable to mention anybody. */
export function createCnbForge(options: CnbForgeOptions): Forge {
  const { connection, thread } = options;
  const { webEndpoint, self } = connection;
  const log = options.log.child({ room: 'cnb' });
  const api = createCnbApi({
    endpoint: connection.apiEndpoint,
    token: connection.token,
    log,
    ...(options.signal && { signal: options.signal }),
    ...(options.timing && { timing: options.timing }),
  });
  const threadPath = apiPath(thread.slug, '-', thread.kind === 'issue' ? 'issues' : 'pulls', thread.number);
  const commentPath = (id: string): string => threadPath + apiPath('comments', id);
  const reader = createThreadReader(api, { thread, threadPath, self });

  async function postComment(text: string): Promise<ThreadComment> {
    const body = neutraliseMentions(text);
    const before = new Date(Date.now() - 60_000).toISOString();
    try {
      const comment = await api.write('POST', `${threadPath}/comments`, { body }, Comment);
      if (comment) return toComment(comment, self);
    } catch (error) {
      if (!maybeApplied(error)) throw error;
      log.warn({ err: error }, 'the answer to a new comment was lost, looking for it in the thread');
      const found = await reader.newestWith(body, before);
      if (!found) throw error;
      return found;
    }
    const found = await reader.newestWith(body, before);
    if (!found) throw new AppError('forge', 'CNB took a comment, but it is not in the thread.');
    return found;
  }

  async function findPull(headBranch: string): Promise<Pull | undefined> {
    let closed: Pull | undefined;
    for await (const pull of api.list(apiPath(thread.slug, '-/pulls'), PullSchema, { state: 'all' })) {
      if (branchName(pull.head.ref) !== headBranch || !isOurs(pull.head.repo?.path)) continue;
      if (pull.state === 'open') return toPull(pull);
      closed ??= toPull(pull);
    }
    return closed;
  }

  async function openPull(request: PullRequestRequest): Promise<Pull> {
    const body = { ...request, title: neutraliseMentions(request.title), body: neutraliseMentions(request.body) };
    try {
      const pull = await api.write('POST', apiPath(thread.slug, '-/pulls'), body, PullSchema);
      if (pull) return toPull(pull);
    } catch (error) {
      if (!maybeApplied(error)) throw error;
      log.warn({ err: error }, 'the answer to a new pull request was lost, looking for it by its branch');
      const found = await findPull(request.head);
      if (found?.state !== 'open') throw error;
      return found;
    }
    const found = await findPull(request.head);
    if (!found) throw new AppError('forge', `CNB took a pull request for ${request.head}, but does not list it.`);
    return found;
  }

  async function postReview(review: ReviewRequest): Promise<void> {
    if (thread.kind !== 'pr')
      throw new AppError('internal', 'A review needs a pull request, and this thread is an issue.');
    const comments = review.comments.slice(0, mostInlineComments).map(({ path, line, body }) => ({
      path,
      subject_type: 'line',
      start_line: line,
      end_line: line,
      start_side: 'right',
      end_side: 'right',
      body: neutraliseMentions(body),
    }));
    await api.write(
      'POST',
      `${threadPath}/reviews`,
      { event: review.event, body: neutraliseMentions(review.body), comments },
      Anything,
    );
  }

  function isOurs(path: string | undefined): boolean {
    return path === undefined || path === '' || path.toLowerCase() === thread.slug.toLowerCase();
  }

  function toPull(pull: PullSchema): Pull {
    const url = `${webEndpoint}${apiPath(thread.slug, '-/pulls', pull.number)}`;
    return { number: pull.number, url, headSha: pull.head.sha, state: pull.state };
  }

  return {
    readThread: reader.readThread,
    readCommentsAfter: reader.readCommentsAfter,
    readRequestText: reader.readRequestText,
    postComment,
    findPull,
    openPull,
    postReview,
    async updateComment(id, body) {
      await api.write('PATCH', commentPath(id), { body: neutraliseMentions(body) }, Anything);
    },
    async readComment(id) {
      try {
        return toComment(await api.get(commentPath(id), Comment), self);
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    },
    async readPullFiles() {
      if (thread.kind === 'issue') return [];
      const files = await api.get(`${threadPath}/files`, PullFile.array());
      return files.map(({ filename, status, patch }) => ({ path: filename, status, patch }));
    },
    attachFile: (file) =>
      uploadAttachment(api, thread, file, { webEndpoint, ...(options.signal && { signal: options.signal }) }),
    remote: gitRemote(connection),
    branchUrl: (branch) => `${webEndpoint}${apiPath(thread.slug, '-/tree', branch)}`,
  };
}

function branchName(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}
