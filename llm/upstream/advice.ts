import { ModelError } from '../../core/model.ts';
import { type AdviceContext, sentences } from './advice-texts.ts';
import type { UpstreamError } from './errors.ts';

/** The final error of a call: the provider's words, what they mean, and what the user does next. */
export function advise(error: UpstreamError, context: AdviceContext): ModelError {
  if (error.advised) return error;
  const { retryable } = error;
  const kind = error.kind === 'bad_request' && isUnknownModel(error) ? 'misconfigured' : error.kind;
  const { status, message } = error;
  const said = `${status === undefined ? '' : `${status}: `}${oneLine(message)}`;
  const words = sentences[context.language];
  const text = kind === 'budget' || kind === 'cancelled' ? message : words[kind]({ ...context, said, error });
  return new ModelError(kind, text, { retryable, cause: error });
}

/** Whether a refusal means that there is no such model there. */
function isUnknownModel({ message }: UpstreamError): boolean {
  const unknown =
    /not.?found|not exist|unknown|not supported|no such|invalid|not a valid|unavailable|no access|不存在|未找到/i;
  return (
    /model|模型/i.test(message) &&
    unknown.test(message) &&
    !/\b(parameter|argument|field|content|message|role)\b/i.test(message)
  );
}

function oneLine(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
