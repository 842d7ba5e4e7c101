import { z } from 'zod';
import { type Call, notFound, page, type Route } from './http.ts';
import type { Platform } from './platform.ts';
import { commentShape } from './shapes.ts';
import { type FakeComment, type FakeIssue, type FakePull, timestamp } from './world.ts';

const CommentForm = z.object({ body: z.string().min(1), work_mode: z.boolean().default(false) });
const Labels = z.object({ labels: z.array(z.string()) });
const Assignees = z.object({ assignees: z.array(z.string()) });

/** Comments, labels and assignees are the same for both kinds of thread. */
export function commentRoutes(
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
