import type { RoleDefinition } from '../role.ts';

/** Answers a question at once, hands a review over, or plans the change. Its work tree is thrown away. */
export const architect: RoleDefinition = {
  name: 'architect',
  prompt: new URL('./prompt.md', import.meta.url),
  tools: ['read', 'grep', 'glob', 'bash', 'plan', 'comment', 'ask', 'submit-result'],
  policy: { choice: 'default', maxSteps: 40 },
};
