import { AppError } from '../base/errors.ts';
import type { ErrorCode, FrameOf } from '../protocol/index.ts';

/** The local error for an `error` frame; `details` carries `code`, `retryable` and `retry_after_ms`. */
export function wireError({ payload }: FrameOf<'error'>): AppError {
  const { code, message, retryable, retry_after_ms } = payload;
  return new AppError('wire', `The hub refused: ${message} (${code}).`, {
    details: { code, retryable, ...(retry_after_ms !== undefined && { retry_after_ms }) },
  });
}

/** The code of the `error` frame behind a rejected `send` or `ask`; undefined when something else went wrong. */
export function wireCode(thrown: unknown): ErrorCode | undefined {
  return thrown instanceof AppError && thrown.code === 'wire' ? (thrown.details.code as ErrorCode) : undefined;
}
