import { createMasker } from '../../base/mask.ts';

/** Masks JSON values and counts the places. */
export interface Redactor {
  /** The value with what is secret replaced, in texts and in the names of fields. */
  redact<T>(value: T): T;
  /** Places that were masked so far. */
  readonly places: number;
}

const MASK = '***';

/** Texts that are remembered as clean: up to so many characters, and so many of them. */
const LONGEST_KNOWN = 64;
const MOST_KNOWN = 10_000;

/** Knows these secrets, and what well-known keys look like. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const { mask } = createMasker(secrets);
  let places = 0;
  const text = (value: string): string => {
    const masked = mask(value);
    if (masked !== value) places += Math.max(1, count(masked) - count(value));
    return masked;
  };
  // the names of fields, agents and types come again in every message
  const clean = new Set<string>();
  const known = (value: string): string => {
    if (clean.has(value)) return value;
    const masked = text(value);
    if (masked === value && value.length <= LONGEST_KNOWN && clean.size < MOST_KNOWN) clean.add(value);
    return masked;
  };
  const redact = (value: unknown): unknown => {
    if (typeof value === 'string') return known(value);
    if (Array.isArray(value)) return value.map(redact);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [known(key), redact(inner)]));
  };
  return {
    redact: <T>(value: T) => redact(value) as T,
    get places() {
      return places;
    },
  };
}

function count(text: string): number {
  return text.split(MASK).length - 1;
}
