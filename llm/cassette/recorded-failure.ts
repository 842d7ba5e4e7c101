import { messageOf } from '../../base/errors.ts';
import { ModelError, type ModelErrorKind } from '../../core/model.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { Failure } from './format.ts';

/** An error as a cassette keeps it. */
export function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof ModelError) return { kind: error.kind, message };
  const cause = (error as { cause?: unknown } | null)?.cause;
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  return {
    message,
    ...(typeof code === 'string' && { code }),
    ...(cause instanceof Error && { reason: cause.message }),
  };
}

/** The error that a recorded failure was, so that it is taken for the same. */
export function errorOf({ kind, code, message, reason }: Failure): Error {
  if (kind !== undefined) return new UpstreamError(kind as ModelErrorKind, message);
  const cause = Object.assign(new Error(reason ?? message), code === undefined ? {} : { code });
  return new TypeError(message, { cause });
}
