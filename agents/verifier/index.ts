import type { RoleDefinition } from '../role.ts';

/** Tries to prove that a requirement is not met. Its work tree is thrown away. */
export const verifier: RoleDefinition = {
  name: 'verifier',
  prompt: new URL('./prompt.md', import.meta.url),
  tools: ['read', 'grep', 'glob', 'bash', 'comment', 'submit-result'],
  policy: { choice: 'default', maxSteps: 40 },
};
