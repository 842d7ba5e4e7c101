import { AppError } from '../base/errors.ts';
import { architect } from './architect/index.ts';
import { coder } from './coder/index.ts';
import { reviewer } from './reviewer/index.ts';
import type { RoleDefinition } from './role.ts';
import { verifier } from './verifier/index.ts';

/** The built-in roles by name. Every other role is played by somebody's own agent. */
export const roles: Readonly<Record<string, RoleDefinition>> = { architect, coder, reviewer, verifier };

/** A built-in role. Throws `usage` when there is none of this name. */
export function roleNamed(name: string): RoleDefinition {
  const role = Object.hasOwn(roles, name) ? roles[name] : undefined;
  if (role) return role;
  const known = Object.keys(roles).join(', ');
  throw new AppError('usage', `there is no built-in role "${name}" (${known}); another program plays it with --exec`);
}
