import type { RoleDefinition } from '../role.ts';

/** Changes the work tree until the task is done and its tests pass. */
export const coder: RoleDefinition = {
  name: 'coder',
  prompt: new URL('./prompt.md', import.meta.url),
  tools: ['read', 'write', 'edit', 'grep', 'glob', 'bash', 'plan', 'comment', 'ask', 'submit-result'],
  policy: { choice: 'default', maxSteps: 120 },
};
