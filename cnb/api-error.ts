import { AppError } from '../base/errors.ts';
import { WebError } from './schemas.ts';

/** What `AppError('forge')` carries in its details. */
export interface ForgeErrorDetails extends Record<string, unknown> {
  readonly method: string;
  readonly path: string;
  /** HTTP status; absent when no answer came. */
  readonly status?: number;
  readonly errcode?: string;
  /** Identifies the request for the platform's support. */
  readonly traceparent?: string;
  /** How long the platform asks to wait, ms. */
  readonly retryAfterMs?: number;
  /** A write may have been applied although this error came. */
  readonly maybeApplied?: boolean;
}

/** The error for an answer that refuses. Its body may be the platform's JSON, HTML or empty. */
export function refused(request: { method: string; path: string }, response: Response, body: string): AppError {
  const parsed = WebError.safeParse(parseJson(body));
  const errcode = parsed.success && parsed.data.errcode != null ? String(parsed.data.errcode) : undefined;
  const reason = parsed.success && parsed.data.errmsg !== '' ? parsed.data.errmsg : response.statusText;
  const traceparent = response.headers.get('traceparent') ?? undefined;
  const retryAfterMs = waitOf(response.headers.get('retry-after'));
  const details: ForgeErrorDetails = {
    ...request,
    status: response.status,
    ...(errcode !== undefined && { errcode }),
    ...(traceparent !== undefined && { traceparent }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(request.method !== 'GET' && response.status >= 500 && { maybeApplied: true }),
  };
  const code = errcode === undefined ? '' : `, errcode ${errcode}`;
  const text = `CNB answered ${response.status}${code} to ${request.method} ${request.path}: ${reason.slice(0, 300)}.${cure(response.status)}`;
  return new AppError('forge', text, { details });
}

/** The error for a request that got no answer, or one that cannot be read. */
export function unanswered(request: { method: string; path: string }, cause: unknown): AppError {
  const details: ForgeErrorDetails = { ...request, ...(request.method !== 'GET' && { maybeApplied: true }) };
  const text = `CNB gave no usable answer to ${request.method} ${request.path}. Check CNB_API_ENDPOINT and the network.`;
  return new AppError('forge', text, { cause, details });
}

/** Whether a write that failed so may have been applied all the same. */
export function maybeApplied(error: unknown): boolean {
  return error instanceof AppError && error.code === 'forge' && error.details.maybeApplied === true;
}

/** The HTTP status behind a thrown error; undefined when there is none. */
export function statusOf(error: unknown): number | undefined {
  const status = error instanceof AppError && error.code === 'forge' ? error.details.status : undefined;
  return typeof status === 'number' ? status : undefined;
}

function cure(status: number): string {
  if (status === 401) return ' The token is invalid or its build has ended.';
  if (status === 403)
    return ' The token may not do this: tick work mode in the comment box and mention the agent again.';
  if (status === 429) return ' Too many requests: try again in a minute.';
  return '';
}

/** `Retry-After` is a number of seconds or an HTTP date. */
function waitOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
