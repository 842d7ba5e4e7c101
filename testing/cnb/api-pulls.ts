import { z } from 'zod';
import { commentRoutes } from './api-comments.ts';
import { git, tryGit } from './git.ts';
import { type Call, notFound, page, Refusal, type Route } from './http.ts';
import { findThread, type Platform } from './platform.ts';
import { inlineShape, pullShape, reviewShape } from './shapes.ts';
import { type FakePull, type FakeReview, timestamp } from './world.ts';

const PullForm = z.object({
  title: z.string().min(1).max(255),
  body: z.string().default(''),
  base: z.string(),
  head: z.string(),
  head_repo: z.string().optional(),
});
const PullPatch = z.object({
  title: z.string().optional(),
  body: z.string().optional(),
  state: z.enum(['open', 'closed']).optional(),
});
const MergeForm = z.object({
  merge_style: z.string(),
  commit_title: z.string().default(''),
  commit_message: z.string().default(''),
});
const ReviewForm = z.object({
  event: z.string(),
  body: z.string().default(''),
  comments: z
    .array(
      z.object({
        path: z.string(),
        body: z.string(),
        subject_type: z.string().optional(),
        start_line: z.int().optional(),
        end_line: z.int().optional(),
        start_side: z.string().optional(),
        end_side: z.string().optional(),
      }),
    )
    .default([]),
  work_mode: z.boolean().default(false),
});
const ReplyForm = z.object({ body: z.string(), reply_to_comment_id: z.string() });

/** The routes of pull requests. `pullAnswer` says what creating one is answered with. */
export function pullRoutes(
  platform: Platform,
  options: { readonly pullAnswer: () => 'pull' | 'empty' },
): readonly Route[] {
  const pull = async (call: Call): Promise<FakePull> => {
    const found = findThread(call.repository, 'pr', call.parameters.number ?? '');
    await platform.refresh(call.repository, found);
    return found;
  };
  const review = async (call: Call): Promise<FakeReview> => {
    const found = (await pull(call)).reviews.find(({ id }) => id === call.parameters.review);
    if (!found) throw notFound(`review ${call.parameters.review}`);
    return found;
  };

  return [
    {
      method: 'GET',
      path: 'pulls',
      scope: 'repo-pr:r',
      handle: async (call) => {
        const state = call.query.get('state') ?? 'open';
        const base = call.query.get('base_ref');
        const all = [...call.repository.threads.values()].filter((thread) => thread.kind === 'pr').reverse();
        const wanted = all.filter(
          (one) => (state === 'all' || one.state === state) && (base === null || one.base === base),
        );
        const shown = page(wanted, call.query);
        for (const one of shown) await platform.refresh(call.repository, one);
        return { status: 200, body: shown.map((one) => pullShape(one, call.repository, 'list')) };
      },
    },
    {
      method: 'POST',
      path: 'pulls',
      scope: 'repo-pr:rw',
      handle: async (call) => {
        const { title, body, base, head, head_repo: headSlug } = call.read(PullForm);
        const where = {
          repository: call.repository,
          author: call.person,
          base,
          head,
          ...(headSlug !== undefined && { headSlug }),
        };
        const made = await platform.openPull({ ...where, title, body, workMode: false });
        return options.pullAnswer() === 'empty'
          ? { status: 201 }
          : { status: 201, body: pullShape(made, call.repository) };
      },
    },
    {
      method: 'GET',
      path: 'pulls/:number',
      scope: 'repo-pr:r',
      handle: async (call) => {
        const one = await pull(call);
        const body = pullShape(one, call.repository);
        if (one.checksLeft > 0) one.checksLeft -= 1;
        return { status: 200, body };
      },
    },
    {
      method: 'PATCH',
      path: 'pulls/:number',
      scope: 'repo-pr:rw',
      handle: async (call) => {
        const one = Object.assign(await pull(call), call.read(PullPatch), { updatedAt: timestamp() });
        return { status: 200, body: pullShape(one, call.repository) };
      },
    },
    {
      method: 'PUT',
      path: 'pulls/:number/merge',
      scope: 'repo-pr:rw',
      handle: async (call) => {
        const form = call.read(MergeForm);
        if (!['merge', 'squash', 'rebase'].includes(form.merge_style))
          throw new Refusal(400, 2_000_009, 'bad merge_style');
        const order = { style: form.merge_style, title: form.commit_title, message: form.commit_message };
        const sha = await platform.merge(call.repository, await pull(call), call.person, order);
        return { status: 200, body: { merged: true, message: 'merged', sha } };
      },
    },
    {
      method: 'GET',
      path: 'pulls/:number/files',
      scope: 'repo-pr:r',
      handle: async (call) => ({ status: 200, body: await filesOf(call, await pull(call)) }),
    },
    {
      method: 'GET',
      path: 'pulls/:number/commits',
      scope: 'repo-pr:r',
      handle: async (call) => {
        const one = await pull(call);
        const list = await git(call.repository.folder, 'log', '--format=%H%x00%s', `${one.baseSha}..${one.headSha}`);
        const commits = list
          .split('\n')
          .filter(Boolean)
          .map((line) => line.split('\0'));
        return { status: 200, body: page(commits, call.query).map(([sha, message]) => ({ sha, commit: { message } })) };
      },
    },
    {
      method: 'GET',
      path: 'pulls/:number/commit-statuses',
      scope: 'repo-pr:r',
      handle: async (call) => ({
        status: 200,
        body: { sha: (await pull(call)).headSha, state: 'success', statuses: [] },
      }),
    },
    ...commentRoutes(platform, 'pulls', { find: pull, size: 30 }),
    {
      method: 'GET',
      path: 'pulls/:number/reviews',
      scope: 'repo-notes:r',
      handle: async (call) => ({ status: 200, body: page((await pull(call)).reviews, call.query).map(reviewShape) }),
    },
    {
      method: 'POST',
      path: 'pulls/:number/reviews',
      scope: 'repo-notes:rw',
      handle: async (call) => {
        const { event, body, comments, work_mode: workMode } = call.read(ReviewForm);
        const where = { repository: call.repository, pull: await pull(call), author: call.person };
        platform.review({ ...where, event, body, comments: comments as never, workMode });
        return { status: 201 };
      },
    },
    {
      method: 'GET',
      path: 'pulls/:number/reviews/:review/comments',
      scope: 'repo-notes:r',
      handle: async (call) => {
        const one = await review(call);
        return { status: 200, body: page(one.comments, call.query).map((comment) => inlineShape(comment, one)) };
      },
    },
    {
      method: 'POST',
      path: 'pulls/:number/reviews/:review/replies',
      scope: 'repo-notes:rw',
      handle: async (call) => {
        const { body, reply_to_comment_id: to } = call.read(ReplyForm);
        const one = await review(call);
        const where = { repository: call.repository, pull: await pull(call), review: one, author: call.person };
        return { status: 201, body: inlineShape(platform.reply({ ...where, body, to }), one) };
      },
    },
  ];
}

const fileWords: Readonly<Record<string, string>> = {
  A: 'add',
  M: 'modify',
  D: 'delete',
  R: 'rename',
  C: 'copy',
  T: 'modify',
};

async function filesOf({ repository: { folder } }: Call, pull: FakePull): Promise<readonly unknown[]> {
  const base = (await tryGit(folder, 'merge-base', pull.baseSha, pull.headSha)) ?? pull.baseSha;
  const list = await git(folder, 'diff', '--name-status', '-M', base, pull.headSha);
  return Promise.all(
    list
      .split('\n')
      .filter(Boolean)
      .map(async (line) => {
        const [word = '', ...paths] = line.split('\t');
        const filename = paths.at(-1) ?? '';
        const patch = await git(folder, 'diff', '-M', base, pull.headSha, '--', ...paths);
        const count = (mark: string): number =>
          patch.split('\n').filter((text) => text.startsWith(mark) && !text.startsWith(mark.repeat(3))).length;
        const hunks = patch.slice(Math.max(0, patch.search(/^@@/m)));
        const status = fileWords[word.charAt(0)] ?? 'modify';
        return { filename, status, additions: count('+'), deletions: count('-'), patch: hunks, sha: pull.headSha };
      }),
  );
}
