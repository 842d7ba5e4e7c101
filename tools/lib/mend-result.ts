import { Artifact, Issue, MAX_INLINE_TEXT, TaskResultPayload } from '../../protocol/index.ts';

/** What became of a result that somebody sent. */
export interface MendedResult {
  /** Absent when something is wrong that only its sender can say right. */
  readonly result?: TaskResultPayload;
  /** What was put right, where only the form was wrong. */
  readonly mended: readonly string[];
  /** What has to be said again. */
  readonly wrong: readonly string[];
}

type Fields = Record<string, unknown>;

const SUCCESS = ['success', 'succeeded', 'successful', 'ok', 'done', 'complete', 'completed', 'approved', 'passed'];
const FAILED = ['failed', 'fail', 'failure', 'error'];
const SEVERITIES: Readonly<Record<string, Issue['severity']>> = {
  blocker: 'blocking',
  critical: 'blocking',
  error: 'blocking',
  high: 'blocking',
  major: 'blocking',
  medium: 'warning',
  warn: 'warning',
  minor: 'warning',
  low: 'note',
  info: 'note',
  nit: 'note',
  suggestion: 'note',
};

/**
 * Reads a result as models write it: missing lists, lists as JSON text, one object for a list, other words for the same.
 * Form is put right and named; meaning is never guessed.
 */
export function mendResult(raw: unknown): MendedResult {
  const mended: string[] = [];
  const wrong: string[] = [];
  const fields = asFields(raw);
  if (!fields) return { mended, wrong: ['the result is no object'] };
  const artifacts = list(fields, 'artifacts', mended, wrong).map((one, at) =>
    artifact(one, `artifacts[${at}]`, mended),
  );
  const issues = list(fields, 'issues', mended, wrong).map((one, at) => issue(one, `issues[${at}]`, mended));
  const summary = summaryOf(fields.summary, artifacts, mended);
  const result = { status: statusOf(fields.status, mended), summary, artifacts, issues };
  const checked = TaskResultPayload.safeParse(result);
  for (const { path, message } of checked.error?.issues ?? []) wrong.push(`${pathText(path)}: ${message}`);
  return checked.success && wrong.length === 0 ? { result: checked.data, mended, wrong } : { mended, wrong };
}

function statusOf(value: unknown, mended: string[]): unknown {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  const status = SUCCESS.includes(word as string) ? 'success' : FAILED.includes(word as string) ? 'failed' : value;
  if (status !== value) mended.push(`status "${value}" was taken as ${status}`);
  return status;
}

/** A summary that is too long becomes an artifact, and its beginning the summary. */
function summaryOf(value: unknown, artifacts: unknown[], mended: string[]): unknown {
  if (typeof value !== 'string' || value.length <= 2000) return value;
  mended.push(`summary had ${value.length} characters, at most 2000 fit; the whole of it is now an artifact`);
  artifacts.push({ kind: 'report', title: 'summary', text: value.slice(0, MAX_INLINE_TEXT) });
  return `${value.slice(0, 1990).trimEnd()} …`;
}

function list(fields: Fields, key: string, mended: string[], wrong: string[]): unknown[] {
  const value = parsed(fields[key]);
  if (value === undefined || value === null || value === '') {
    if (fields[key] !== undefined) mended.push(`${key} was empty and was taken as []`);
    return [];
  }
  if (Array.isArray(value)) {
    if (!Array.isArray(fields[key])) mended.push(`${key} came as text and was read as JSON`);
    return value.map(parsed);
  }
  if (asFields(value)) {
    mended.push(`${key} was one object and was taken as a list of one`);
    return [value];
  }
  wrong.push(`${key}: must be a list of objects`);
  return [];
}

function artifact(value: unknown, where: string, mended: string[]): unknown {
  if (typeof value === 'string') {
    mended.push(`${where} was plain text and was taken as {kind: "text", title: "text", text}`);
    return { kind: 'text', title: 'text', text: value };
  }
  const fields = asFields(value);
  if (!fields) return value;
  const { kind, title, text, path, ...rest } = withoutNull(fields);
  const known = Artifact.shape.kind.safeParse(typeof kind === 'string' ? kind.toLowerCase() : kind);
  if (!known.success && kind !== undefined)
    mended.push(`${where}.kind "${String(kind)}" is unknown and was taken as text`);
  const inline = typeof text === 'object' ? JSON.stringify(text) : text;
  if (inline !== text) mended.push(`${where}.text was an object and was written as JSON`);
  const name = title ?? path ?? (known.success ? known.data : 'text');
  if (title === undefined) mended.push(`${where}.title was missing and is now "${String(name)}"`);
  return {
    ...rest,
    kind: known.success ? known.data : path !== undefined && kind === undefined ? 'file' : 'text',
    title: typeof name === 'string' ? name.slice(0, 300) : name,
    ...(path !== undefined && { path }),
    ...(inline !== undefined && { text: inline }),
  };
}

function issue(value: unknown, where: string, mended: string[]): unknown {
  const fields = asFields(value);
  if (!fields) return value;
  const { severity, message, line, evidence, ...rest } = withoutNull(fields);
  const word = typeof severity === 'string' ? severity.toLowerCase() : severity;
  const known = Issue.shape.severity.safeParse(word);
  const degree = known.success ? known.data : (SEVERITIES[String(word)] ?? severity);
  if (degree !== severity) mended.push(`${where}.severity "${String(severity)}" was taken as ${String(degree)}`);
  const first = typeof line === 'string' ? Number.parseInt(line, 10) : line;
  const place = typeof first === 'number' && first >= 1 ? Math.trunc(first) : undefined;
  if (line !== undefined && place !== line) mended.push(`${where}.line was read as ${place ?? 'none'}`);
  return {
    ...rest,
    severity: degree,
    message: shortened(message, 4000, `${where}.message`, mended),
    ...(place !== undefined && { line: place }),
    ...(evidence !== undefined && { evidence: shortened(textOf(evidence), 8000, `${where}.evidence`, mended) }),
  };
}

function shortened(value: unknown, max: number, where: string, mended: string[]): unknown {
  if (typeof value !== 'string' || value.length <= max) return value;
  mended.push(`${where} was cut to ${max} characters`);
  return `${value.slice(0, max - 2)} …`;
}

function textOf(value: unknown): unknown {
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    // Then it is text that begins with a bracket.
    return value;
  }
}

function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function withoutNull(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at > 0 ? '.' : ''}${String(part)}`))
    .join('');
}
