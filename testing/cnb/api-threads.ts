import { z } from 'zod';
import { git, tryGit } from './git.ts';
import { type Call, notFound, page, Refusal, type Route } from './http.ts';
import { findThread, type Platform } from './platform.ts';
import { commentShape, inlineShape, issueShape, pullShape, reviewShape } from './shapes.ts';
import { type FakeComment, type FakeIssue, type FakePull, timestamp } from './world.ts';

const CommentForm = z.object({ body: z.string().min(1), work_mode: z.boolean().default(false) });
const IssueForm = z.object({
  title: z.string().min(2).max(255),
  body: z.string().default(''),
  work_mode: z.boolean().default(false),
});
const IssuePatch = z.object({
  title: z.string().optional(),
  body: z.string().optional(),
  state: z.enum(['open', 'closed']).optional(),
  state_reason: z.string().optional(),
});
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
const Labels = z.object({ labels: z.array(z.string()) });
const Assignees = z.object({ assignees: z.array(z.string()) });

/** The routes of issues and pull requests. `pullAnswer` says what creating a pull request is answered with. */
export function threadRoutes(
  platform: Platform,
  options: { readonly pullAnswer: () => 'pull' | 'empty' },
): readonly Route[] {
  const issue = (call: Call): FakeIssue => findThread(call.repository, 'issue', call.parameters.number ?? '');
  const pull = async (call: Call): Promise<FakePull> => {
    const found = findThread(call.repository, 'pr', call.parameters.number ?? '');
    await platform.refresh(call.repository, found);
    return found;
  };
  const review = async (call: Call) => {
    const found = (await pull(call)).reviews.find(({ id }) => id === call.parameters.review);
    if (!found) throw notFound(`review ${call.parameters.review}`);
    return found;
  };

  return [
    {
      method: 'GET',
      path: 'issues',
      scope: 'repo-issue:r',
      handle: (call) => {
        const state = call.query.get('state');
        const all = [...call.repository.threads.values()].filter((thread) => thread.kind === 'issue').reverse();
        const wanted = all.filter((thread) => state === null || thread.state === state);
        return { status: 200, body: page(wanted, call.query).map((thread) => issueShape(thread, false)) };
      },
    },
    {
      method: 'POST',
      path: 'issues',
      scope: 'repo-issue:rw',
      handle: (call) => {
        const { title, body, work_mode: workMode } = call.read(IssueForm);
        const made = platform.openIssue({ repository: call.repository, author: call.person, title, body, workMode });
        return { status: 201, body: issueShape(made) };
      },
    },
    {
      method: 'GET',
      path: 'issues/:number',
      scope: 'repo-issue:r',
      handle: (call) => ({ status: 200, body: issueShape(issue(call)) }),
    },
    {
      method: 'PATCH',
      path: 'issues/:number',
      scope: 'repo-issue:rw',
      handle: (call) => {
        const { state, state_reason: reason, ...texts } = call.read(IssuePatch);
        if ((state === undefined) !== (reason === undefined)) {
          throw new Refusal(400, 2_000_004, 'send state and state_reason together');
        }
        const thread = Object.assign(issue(call), texts, { updatedAt: timestamp() });
        if (state && reason) Object.assign(thread, { state, stateReason: reason });
        return { status: 200, body: issueShape(thread) };
      },
    },
    ...commentRoutes(platform, 'issues', { find: issue, size: 10 }),
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
        const { body, reply_to_comment_id: to } = call.read(
          z.object({ body: z.string(), reply_to_comment_id: z.string() }),
        );
        const one = await review(call);
        const where = { repository: call.repository, pull: await pull(call), review: one, author: call.person };
        return { status: 201, body: inlineShape(platform.reply({ ...where, body, to }), one) };
      },
    },
  ];
}

/** Comments, labels and assignees are the same for both kinds of thread. */
function commentRoutes(
  platform: Platform,
  folder: 'issues' | 'pulls',
  kind: { readonly find: (call: Call) => FakeIssue | FakePull | Promise<FakeIssue | FakePull>; readonly size: number },
): readonly Route[] {
  const comment = async (call: Call): Promise<FakeComment> => {
    const found = (await kind.find(call)).comments.find(({ id }) => id === call.parameters.comment);
    if (!found) throw notFound(`comment ${call.parameters.comment}`);
    return found;
  };
  const names = (list: 'labels' | 'assignees', form: z.ZodType<Record<string, string[]>>): readonly Route[] => [
    {
      method: 'GET',
      path: `${folder}/:number/${list}`,
      scope: 'repo-notes:r',
      handle: async (call) => ({
        status: 200,
        body: (await kind.find(call))[list].map((name) => ({ name, username: name })),
      }),
    },
    {
      method: 'POST',
      path: `${folder}/:number/${list}`,
      scope: 'repo-notes:rw',
      handle: async (call) => {
        const thread = await kind.find(call);
        thread[list] = [...new Set([...thread[list], ...(call.read(form)[list] ?? [])])];
        return { status: list === 'labels' ? 200 : 201, body: thread[list].map((name) => ({ name, username: name })) };
      },
    },
  ];
  return [
    {
      method: 'GET',
      path: `${folder}/:number/comments`,
      scope: 'repo-notes:r',
      handle: async (call) => {
        const sort = call.query.get('sort') ?? 'created';
        const key = sort.endsWith('updated') ? 'updatedAt' : 'createdAt';
        const sorted = [...(await kind.find(call)).comments].sort((a, b) => a[key].localeCompare(b[key]));
        return {
          status: 200,
          body: page(sort.startsWith('-') ? sorted.reverse() : sorted, call.query, kind.size).map(commentShape),
        };
      },
    },
    {
      method: 'POST',
      path: `${folder}/:number/comments`,
      scope: 'repo-notes:rw',
      handle: async (call) => {
        const { body, work_mode: workMode } = call.read(CommentForm);
        const thread = await kind.find(call);
        const made = platform.comment({ repository: call.repository, thread, author: call.person, body, workMode });
        return { status: 201, body: commentShape(made) };
      },
    },
    {
      method: 'GET',
      path: `${folder}/:number/comments/:comment`,
      scope: 'repo-notes:r',
      handle: async (call) => ({ status: 200, body: commentShape(await comment(call)) }),
    },
    {
      method: 'PATCH',
      path: `${folder}/:number/comments/:comment`,
      scope: 'repo-notes:rw',
      handle: async (call) => {
        const { body } = call.read(z.object({ body: z.string().min(1) }));
        const found = Object.assign(await comment(call), { body, updatedAt: timestamp() });
        found.edits.push({ at: Date.now(), body });
        return { status: 200, body: commentShape(found) };
      },
    },
    ...names('labels', Labels),
    ...names('assignees', Assignees),
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
