import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** Characters of a wrong value that are repeated. */
const SHOWN = 40;

/**
 * What is wrong with a frame, in one line for who wrote it: which field, what came, and what to send. `issue` is the first one
 * that its schema found in `frame`.
 */
export function faultOf(issue: Issue, frame: unknown): string {
  const { path } = issue;
  const field = path.map(String).join('.') || 'the frame';
  const value = valueAt(frame, path);
  if (value === undefined) return `${field} is missing; add ${wantOf(issue)}`;
  if (issue.code === 'invalid_union') {
    const known = closest(issue, value);
    if (known !== undefined) return faultOf({ ...known, path: [...path, ...known.path] } as Issue, frame);
  }
  if (issue.code === 'unrecognized_keys') return `${field}: nobody knows ${issue.keys.join(', ')}; leave it out`;
  const rule = issue.code === 'invalid_format' && issue.format === 'regex' ? issue.message : `send ${wantOf(issue)}`;
  return `${field}: ${gotOf(value, issue)} came; ${rule}`;
}

/** The issue of the alternative that was most likely meant: the one of which something is there. */
function closest({ errors }: Extract<Issue, { code: 'invalid_union' }>, value: unknown): Issue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const firsts = errors.flatMap(([first]) => (first === undefined ? [] : [first]));
  return firsts.findLast((issue) => issue.path.length > 0 && valueAt(value, issue.path) !== undefined) ?? last(errors);
}

function last(errors: readonly (readonly Issue[])[]): Issue | undefined {
  const missing = errors.flatMap((issues) => issues.slice(0, 1)).filter(({ path }) => path.length > 0);
  // Of two that may be meant both are told; the last of many is the one that takes anything.
  return new Set(missing.map(({ path }) => path.join('.'))).size > 1 ? undefined : missing.at(-1);
}

function valueAt(frame: unknown, path: readonly PropertyKey[]): unknown {
  let value = frame;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
};

/** What belongs there. */
function wantOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return kinds[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return listed(issue.values.map((value) => JSON.stringify(value)));
    case 'too_small':
      return sized(
        issue.origin,
        issue.inclusive === false ? `more than ${issue.minimum}` : `${issue.minimum} or more`,
        issue.minimum,
      );
    case 'too_big':
      return sized(issue.origin, `${issue.maximum} or less`, issue.maximum);
    case 'invalid_format':
      return issue.format === 'regex' ? issue.message : `a text that is ${issue.format}`;
    case 'invalid_union':
      return listed(issue.errors.flatMap(([first]) => (first === undefined ? [] : [alternative(first)])));
    default:
      return issue.message;
  }
}

/** Some of several, when they are many. */
function listed(all: readonly string[]): string {
  const each = [...new Set(all)];
  return each.length <= 9 ? each.join(' or ') : `${each.slice(0, 9).join(' or ')} or another of ${each.length}`;
}

function alternative(issue: Issue): string {
  return issue.path.length === 0 ? wantOf(issue) : `{"${issue.path.join('.')}": ${wantOf(issue)}}`;
}

function sized(origin: string, range: string, bound: number | bigint): string {
  if (origin === 'string') return bound === 1 ? 'a text that is not empty' : `a text of ${range}`;
  if (origin === 'array') return `a list of ${range}`;
  return `a number that is ${range}`;
}

/** What came: how much of it when that is the fault, else what kind it is of. */
function gotOf(value: unknown, { code }: Issue): string {
  if (typeof value === 'string') {
    if (code === 'too_big') return `a text of ${value.length} characters`;
    if (value === '') return 'an empty text';
    return code === 'invalid_type' ? `the text ${short(value)}` : short(value);
  }
  if (Array.isArray(value)) return code === 'too_big' ? `a list of ${value.length}` : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return short(value);
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}
