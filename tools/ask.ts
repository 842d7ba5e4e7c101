import { z } from 'zod';
import { defineTool } from '../core/tool.ts';

export default defineTool({
  name: 'ask',
  description:
    'Ask whoever gave the task one question and wait for the answer. Only when the work cannot go on without it and ' +
    'neither the task nor the repository says it: the run may have to stop and wait for a person.',
  input: z.object({ question: z.string().min(1).max(4000).describe('One question, in the language of the request') }),
  async run({ question }, { host }) {
    const answer = await host.ask(question);
    return { ok: true, text: answer.trim() === '' ? '(the answer is empty)' : answer, filesTouched: [] };
  },
});
