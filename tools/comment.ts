import { z } from 'zod';
import { defineTool } from '../core/tool.ts';

export default defineTool({
  name: 'comment',
  description:
    "Tell the user something while the work goes on: a note becomes a line of the run's comment, an inline remark " +
    'joins the review at path and line. Write in the language of the request. Not for the result: that is submit-result.',
  input: z.object({
    kind: z.enum(['note', 'inline']).default('note'),
    body: z.string().min(1).max(4000),
    path: z.string().min(1).optional().describe('For inline: the file, relative to the work tree'),
    line: z.int().min(1).optional().describe('For inline: line number in the new version of the file'),
  }),
  async run({ kind, body, path, line }, { host }) {
    if (kind === 'inline' && (path === undefined || line === undefined)) {
      return { ok: false, text: 'An inline comment needs path and line; for a general remark use kind note.' };
    }
    const id = await host.comment({
      kind,
      body,
      ...(path !== undefined && { path }),
      ...(line !== undefined && { line }),
    });
    return { ok: true, text: `handed over as ${id}`, filesTouched: [] };
  },
});
