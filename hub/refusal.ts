import { type OutgoingHttpHeaders, STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../protocol/index.ts';

/** Why a request is refused; the codes of frames, and those that only HTTP has. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 426 | 429 | 500 | 503;
  readonly code: ErrorCode | 'not_found' | 'bad_query' | 'method_not_allowed' | 'upgrade_required' | 'not_ready';
  readonly message: string;
  /** When to come back, in seconds. */
  readonly retryAfter?: number;
  /** Methods that would have been right. */
  readonly allow?: string;
}

export function refuse(
  status: Refusal['status'],
  code: Refusal['code'],
  message: string,
  extra: Pick<Refusal, 'retryAfter' | 'allow'> = {},
): Refusal {
  return { status, code, message, ...extra };
}

/** Header fields and JSON body that tell of a refusal. */
export function told(refusal: Refusal): { headers: OutgoingHttpHeaders; body: string } {
  const { status, code, message, retryAfter, allow } = refusal;
  const body = `${JSON.stringify({ error: { code, message } })}\n`;
  return {
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...(allow !== undefined && { allow }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(status === 426 && { upgrade: 'websocket' }),
    },
    body,
  };
}

/** A refusal as the bytes of a whole response, for a stream that was to be upgraded. */
export function asResponse(refusal: Refusal): string {
  const { headers, body } = told(refusal);
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`, 'connection: close', ...fields];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
