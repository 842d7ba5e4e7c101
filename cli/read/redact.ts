import { createMasker } from '../../base/mask.ts';

/** Masks JSON values and counts the places. */
export interface Redactor {
  /** The value with what is secret replaced, in texts and in the names of fields. */
  redact<T>(value: T): T;
  /** Places that were masked so far. */
  readonly places: number;
}

const MASK = '***';

/** Knows these secrets, and what well-known keys look like. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const { mask } = createMasker(secrets);
  let places = 0;
  const text = (value: string): string => {
    const masked = mask(value);
    if (masked !== value) places += Math.max(1, count(masked) - count(value));
    return masked;
  };
  const redact = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(redact);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), redact(inner)]));
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
