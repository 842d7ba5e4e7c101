import { createHash, randomBytes } from 'node:crypto';

/** What a connection may do: be given tasks, give tasks, look at everything, everything. */
export type Scope = 'work' | 'assign' | 'watch' | 'admin';

/** What a token allows; with `agent` it is good for that name only. */
export interface Grant {
  readonly agent?: string;
  readonly scopes: readonly Scope[];
}

/** Everybody's grant on a hub that asks for no token. */
export const openGrant: Grant = { scopes: ['work', 'assign', 'watch', 'admin'] };

export function may(grant: Grant, scope: Scope): boolean {
  return grant.scopes.includes(scope) || grant.scopes.includes('admin');
}

/** A random token, 256 bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is kept of a token: comparing hashes leaks no timing of use, and nothing readable lies in memory or on disk. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The tokens that are good now; they live as long as the hub's process. */
export class Tokens {
  readonly #grants = new Map<string, Grant>();

  grant(grant: Grant): string {
    const token = newToken();
    this.admit(token, grant);
    return token;
  }

  /** Makes a token good that was drawn elsewhere. */
  admit(token: string, grant: Grant): void {
    // A copy: the object stands for this token.
    this.#grants.set(tokenHash(token), { ...grant });
  }

  /** Takes a token back; returns what it allowed, so that its connections can be ended. */
  revoke(token: string): Grant | undefined {
    const hash = tokenHash(token);
    const grant = this.#grants.get(hash);
    this.#grants.delete(hash);
    return grant;
  }

  find(token: string): Grant | undefined {
    return this.#grants.get(tokenHash(token));
  }
}
