import { ModelError, type ModelErrorKind } from '../../core/model.ts';

/** What is known about a failed call: the HTTP status (absent inside a 200 stream), the error object's fields, its text. */
interface FailureFacts {
  readonly status?: number | undefined;
  readonly code?: unknown;
  readonly type?: unknown;
  /** What the error object calls its status, a number or a word. */
  readonly state?: unknown;
  readonly message: string;
}

/** One failed try, before it is decided whether to try again. `message` is the provider's text, not yet advice. */
export class UpstreamError extends ModelError {
  /** How long the provider asked to wait, ms. */
  readonly waitMs: number | undefined;
  readonly status: number | undefined;
  /** True when the message already says the next step, because a gateway of ours wrote it. */
  readonly advised: boolean;

  constructor(
    kind: ModelErrorKind,
    message: string,
    options: {
      retryable?: boolean;
      waitMs?: number | undefined;
      status?: number | undefined;
      advised?: boolean;
      cause?: unknown;
    } = {},
  ) {
    const { retryable = isRetryable(kind, options.status), cause } = options;
    super(kind, message, cause === undefined ? { retryable } : { retryable, cause });
    this.waitMs = options.waitMs;
    this.status = options.status;
    this.advised = options.advised ?? false;
  }
}

const retryableKinds: ReadonlySet<ModelErrorKind> = new Set([
  'rate_limit',
  'overloaded',
  'server',
  'incomplete',
  'empty',
  'bad_event',
  'not_sse',
  'timeout',
  'stalled',
]);

/** The same request would end the same way, whatever a header says. */
const hopeless: ReadonlySet<ModelErrorKind> = new Set(['auth', 'quota', 'context_length', 'content_filter']);

/** Whether the same request may succeed when it is sent again. */
function isRetryable(kind: ModelErrorKind, status?: number): boolean {
  if (!retryableKinds.has(kind)) return false;
  return kind !== 'server' || status === undefined || status === 408 || status === 409 || status >= 500;
}

const contextWordings = new RegExp(
  [
    'context_length_exceeded|maximum context length|context length is only|context window exceeds limit',
    '(prompt|input) is too long|too many tokens|maximum prompt length is|exceeded model token limit',
    'exceeds? the (context window|available context size)|greater than the context length',
    'input token count.*exceeds? the maximum|prompt token count.*exceeds? the limit',
    'input length.*exceeds?.*context length|reduce the length of the messages',
  ].join('|'),
  'is',
);

/** The kind of a failure; the first rule that fits wins, since rate limits also speak of "too many tokens". */
function classify(facts: FailureFacts): ModelErrorKind {
  const text = [facts.code, facts.type, facts.state, facts.message].filter((part) => part != null).join('\n');
  const says = (pattern: RegExp) => pattern.test(text);
  const numbered = (...numbers: number[]) => numbers.some((number) => hasNumber(facts, number));
  const mayBeContext = facts.status === undefined || [400, 413, 422].includes(facts.status);

  // CNB's platform models: there is no such model
  if (numbered(11102)) return 'misconfigured';
  if (
    numbered(402) ||
    says(/insufficient.?quota|insufficient.{0,10}(balance|credit|funds)|余额不足|欠费|额度(不足|已?用[完尽]|已?耗尽)/i)
  )
    return 'quota';
  if (says(/credit balance is too low|billing_hard_limit/i)) return 'quota';
  if (numbered(429, 1302, 1305) || says(/rate.?limit|too.?many.?requests|throttl|per minute/i)) return 'rate_limit';
  if (numbered(503, 529) || says(/overloaded|at capacity|unavailable/i)) return 'overloaded';
  if ((mayBeContext && says(contextWordings)) || facts.status === 413) return 'context_length';
  if (
    numbered(401, 403) ||
    says(/(invalid|incorrect).?api.?key|api.?key.?(is )?(not valid|invalid)|authentication|unauthorized|permission/i)
  )
    return 'auth';
  if (says(/content.?filter|content policy|data_inspection_failed/i)) return 'content_filter';
  if (numbered(400, 404, 422) || says(/invalid_request/i)) return 'bad_request';
  return 'server';
}

/** A number counts only as the whole of code or status, or straight after such a word: "8592 tokens (402 in tools)" is no 402. */
function hasNumber({ status, code, state, message }: FailureFacts, number: number): boolean {
  if (status === number || [code, state].some((value) => String(value ?? '').trim() === String(number))) return true;
  return new RegExp(`(?<![a-z])(?:[a-z]+_)?(?:code|status|error|http)["']?\\s*[:= ]\\s*["']?${number}\\b`, 'i').test(
    message,
  );
}

/** The failure that an event or body describes, or undefined when it is a usual one. `named` = it came as `event: error`. */
export function failureIn(value: unknown, named = false): UpstreamError | undefined {
  if (!isObject(value)) return undefined;
  const inner = value.error;
  if (typeof inner === 'string' && inner !== '') return failureOf(besides(inner, value));
  if (isObject(inner)) return failureOf(inner);
  if (named || value.type === 'error' || value.object === 'error') return failureOf(value);
  if ('choices' in value) return undefined;
  if (value.detail != null) return failureOf({ ...value, message: textOf(value.detail) });
  if (value.code != null && value.message != null) return failureOf(value);
  // the platform's own form; 0 is its "ok"
  if (typeof value.code === 'number' && value.code !== 0 && value.msg != null) return failureOf(value);
  return undefined;
}

/** The failure of an HTTP answer that is no success; `body` is its text (the beginning is enough). */
export function failureOfStatus(status: number, body: string, waitMs?: number, shouldRetry?: boolean): UpstreamError {
  const parsed = parseJson(body);
  // Google puts the object into an array
  const value = Array.isArray(parsed) ? parsed[0] : parsed;
  const facts = isObject(value) ? factsOf(errorIn(value)) : { message: firstLine(body) };
  const kind = classify({ ...facts, status });
  return new UpstreamError(kind, facts.message || wordless(status), {
    status,
    waitMs,
    retryable: (shouldRetry ?? isRetryable(kind, status)) && !hopeless.has(kind),
  });
}

/** The message of an answer that says nothing but its status. */
export function wordless(status: number): string {
  return `status ${status} without a body`;
}

/** The error object of a body; a text beside other fields counts as its message. */
function errorIn(value: Record<string, unknown>): Record<string, unknown> {
  if (isObject(value.error)) return value.error;
  return typeof value.error === 'string' && value.error !== '' ? besides(value.error, value) : value;
}

/** An error that is a text: what stands beside it belongs to it. */
function besides(error: string, { error: _, ...value }: Record<string, unknown>): Record<string, unknown> {
  const more = typeof value.message === 'string' && value.message !== error ? `: ${value.message}` : '';
  return { ...value, message: `${error}${more}` };
}

/** The first line of a body as people can read it: without markup, at most 200 characters. */
export function firstLine(body: string): string {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(body)?.[1]?.trim();
  const line = title || body.trim().split('\n', 1)[0] || '';
  return line.replaceAll(/\s+/g, ' ').slice(0, 200);
}

/** JSON, or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function factsOf(value: unknown): FailureFacts {
  if (!isObject(value)) return { message: textOf(value) };
  return {
    code: value.code,
    state: value.status ?? value.status_code,
    type: value.type,
    message: textOf(value.message ?? value.displayMsg ?? value.msg ?? value.detail ?? value),
  };
}

function failureOf(value: Record<string, unknown>): UpstreamError {
  const facts = factsOf(value);
  return new UpstreamError(classify(facts), facts.message);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
