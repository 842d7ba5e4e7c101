import { createHash } from 'node:crypto';

/** The first 16 hex digits of the SHA-256 of a value's JSON; the order of keys does not matter. */
export function digest(value: unknown): string {
  const json = JSON.stringify(value, sortKeys) ?? 'undefined';
  return createHash('sha256').update(json).digest('hex').slice(0, 16);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
