import { z } from 'zod';
import { commentRoutes } from './api-comments.ts';
import { type Call, page, Refusal, type Route } from './http.ts';
import { findThread, type Platform } from './platform.ts';
import { issueShape } from './shapes.ts';
import { type FakeIssue, timestamp } from './world.ts';

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

/** The routes of issues. */
export function issueRoutes(platform: Platform): readonly Route[] {
  const issue = (call: Call): FakeIssue => findThread(call.repository, 'issue', call.parameters.number ?? '');
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
  ];
}
