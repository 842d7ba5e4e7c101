import { z } from 'zod';
import type { PlanItem } from '../core/host.ts';
import { defineTool } from '../core/tool.ts';

const MARKS: Readonly<Record<PlanItem['state'], string>> = { open: '[ ]', doing: '[>]', done: '[x]', dropped: '[-]' };

export default defineTool({
  name: 'plan',
  description:
    'Write down the steps of this task and where each stands, for yourself and for the people who watch. Replaces the ' +
    'earlier plan; keep one step at "doing".',
  input: z.object({
    items: z
      .array(
        z.object({
          text: z.string().min(1).describe('The step, with how its success shows'),
          state: z.enum(['open', 'doing', 'done', 'dropped']).default('open'),
        }),
      )
      .max(50),
  }),
  async run({ items }, { host }) {
    await host.plan(items);
    const lines = items.map(({ text, state }) => `${MARKS[state]} ${text}`);
    return { ok: true, text: lines.join('\n') || 'the plan is empty', filesTouched: [] };
  },
});
