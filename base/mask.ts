import { isPlaceholder, keyShapes, mayHoldKey } from './key-shapes.ts';
import { secretForms } from './secret-forms.ts';

/** A secret found in a text. `kind` is fit for people; `value` is the secret itself and must not leave the process. */
export interface SecretHit {
  readonly kind: string;
  readonly value: string;
  readonly index: number;
}

/** Knows a run's secrets, and what keys look like. Make one per run: the spellings of each secret are worked out once. */
export interface Masker {
  /** The text with every secret and every well-known kind of key replaced by `***`. */
  mask(text: string): string;
  /** The same for all strings inside a JSON value; keys and everything else stay. */
  maskValue<T>(value: T): T;
  /** What {@link mask} would replace, in no order. */
  find(text: string): SecretHit[];
}

const MASK = '***';
type Range = readonly [from: number, to: number];

/** A masker for these secrets: exact values (see `secretForms`), also broken over lines, and the shapes in `key-shapes.ts`. */
export function createMasker(secrets: readonly string[]): Masker {
  const forms = secretForms(secrets);

  const mask = (text: string): string => {
    const ranges = [
      ...exactRanges(text, forms),
      ...shapeHits(text).map(({ index, value }): Range => [index, index + value.length]),
    ];
    return ranges.length === 0 ? text : cover(text, ranges);
  };
  const maskValue = <T>(value: T): T => {
    if (typeof value === 'string') return mask(value) as T;
    if (Array.isArray(value)) return value.map(maskValue) as T;
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskValue(inner)])) as T;
  };
  const find = (text: string): SecretHit[] => [
    ...exactRanges(text, forms).map(([from, to]) => ({
      kind: 'a secret of this run',
      value: text.slice(from, to),
      index: from,
    })),
    ...shapeHits(text),
  ];
  return { mask, maskValue, find };
}

function shapeHits(text: string): SecretHit[] {
  if (!mayHoldKey(text)) return [];
  return keyShapes.flatMap(({ name, pattern }) =>
    [...text.matchAll(pattern)]
      .filter(([value]) => !isPlaceholder(value))
      .map(({ 0: value, index }) => ({ kind: name, value, index })),
  );
}

function exactRanges(text: string, forms: readonly string[]): Range[] {
  const ranges = occurrences(text, forms);
  if (!/\n|\\n/.test(text)) return ranges;
  const { squeezed, origin } = squeeze(text);
  // The end is the place after the last character, which a removed line break may follow.
  const wrapped = occurrences(squeezed, forms).map(([from, to]): Range => [origin(from), origin(to - 1) + 1]);
  return [...ranges, ...wrapped];
}

function occurrences(text: string, forms: readonly string[]): Range[] {
  const found: Range[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length))
      found.push([at, at + form.length]);
  }
  return found;
}

/** The text without its line breaks and what stands around them, since a value broken over lines is still the value. */
function squeeze(text: string): { squeezed: string; origin: (index: number) => number } {
  const starts: number[] = [];
  const origins: number[] = [];
  let squeezed = '';
  let from = 0;
  const keep = (to: number): void => {
    if (to > from) {
      starts.push(squeezed.length);
      origins.push(from);
      squeezed += text.slice(from, to);
    }
  };
  for (const gap of text.matchAll(/(?<![ \t])[ \t]*\\?\r?\n[ \t]*|(?:\\r)?\\n/g)) {
    keep(gap.index);
    from = gap.index + gap[0].length;
  }
  keep(text.length);
  const origin = (index: number): number => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return (origins[low] ?? 0) + index - (starts[low] ?? 0);
  };
  return { squeezed, origin };
}

function cover(text: string, ranges: readonly Range[]): string {
  let masked = '';
  let done = 0;
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (from >= done) masked += text.slice(done, from) + MASK;
    done = Math.max(done, to);
  }
  return masked + text.slice(done);
}
