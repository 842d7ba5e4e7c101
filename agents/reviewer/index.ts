import type { RoleDefinition } from '../role.ts';

/** Judges a change at its commit. Its work tree is thrown away. */
export const reviewer: RoleDefinition = {
  name: 'reviewer',
  prompt: new URL('./prompt.md', import.meta.url),
  tools: ['read', 'grep', 'glob', 'bash', 'plan', 'comment', 'ask', 'submit-result'],
  policy: { choice: 'review', maxSteps: 40 },
};
