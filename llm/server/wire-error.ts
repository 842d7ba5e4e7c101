import { z } from 'zod';
import type { ModelError, ModelErrorKind } from '../../core/model.ts';
import { UpstreamError } from '../upstream/errors.ts';

const status: Record<ModelErrorKind, number> = {
  quota: 402,
  budget: 402,
  rate_limit: 429,
  overloaded: 503,
  context_length: 400,
  auth: 401,
  content_filter: 400,
  bad_request: 400,
  misconfigured: 404,
  server: 502,
  incomplete: 502,
  empty: 502,
  bad_event: 502,
  not_sse: 502,
  timeout: 504,
  stalled: 504,
  cancelled: 409,
};

const kinds = Object.keys(status) as [ModelErrorKind, ...ModelErrorKind[]];
const WireError = z.object({
  error: z.object({ message: z.string(), npc: z.object({ kind: z.enum(kinds), retryable: z.boolean() }) }),
});

/** A model error as the gateway puts it on the wire: an OpenAI error body that also keeps our own kind. */
export function toWireError(error: ModelError): { status: number; body: z.infer<typeof WireError> } {
  const { kind, retryable, message } = error;
  const compatible = { type: kind, code: kind === 'context_length' ? 'context_length_exceeded' : kind, param: null };
  return { status: status[kind], body: { error: { message, ...compatible, npc: { kind, retryable } } } };
}

/** The model error in a body or event of our gateway, or undefined when it is something else. */
export function fromWireError(value: unknown): UpstreamError | undefined {
  const parsed = WireError.safeParse(value);
  if (!parsed.success) return undefined;
  const { message, npc } = parsed.data.error;
  return new UpstreamError(npc.kind, message, { retryable: npc.retryable, advised: true });
}
