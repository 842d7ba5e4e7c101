import { ModelError, type ModelErrorKind } from '../../core/model.ts';
import type { UpstreamError } from './errors.ts';

/** What a message can name. */
export interface AdviceContext {
  readonly host: string;
  readonly hasKey: boolean;
  readonly model: string;
  /** Names of the settings a user changes. */
  readonly keyVariable: string;
  readonly urlVariable: string;
  readonly modelVariable: string;
  readonly tries: number;
}

/** The final error of a call: the provider's words, what they mean, and what the user does next. */
export function advise(error: UpstreamError, context: AdviceContext): ModelError {
  if (error.advised) return error;
  const { retryable } = error;
  const kind = error.kind === 'bad_request' && isUnknownModel(error) ? 'misconfigured' : error.kind;
  return new ModelError(kind, sentence(kind, error, context), { retryable, cause: error });
}

function sentence(kind: ModelErrorKind, error: UpstreamError, context: AdviceContext): string {
  const { host, model, keyVariable, urlVariable, modelVariable } = context;
  const said = `(${error.status === undefined ? '' : `${error.status}: `}${oneLine(error.message)})`;
  const tried = context.tries > 1 ? ` after ${context.tries} tries` : '';
  const otherModel = `set ${modelVariable} to another model`;
  switch (kind) {
    case 'auth':
      return context.hasKey
        ? `${host} rejected the key ${said}. Set ${keyVariable} to a key that is valid there, and check ${urlVariable}.`
        : `${host} wants a key ${said}, and ${keyVariable} is not set. Set it to a key of that provider.`;
    case 'quota':
      return `The account at ${host} has no credit left ${said}. Top it up, or set ${keyVariable} to a key that has credit.`;
    case 'rate_limit':
      return `${host} still limits the rate${tried} ${said}. Run again later${waitOf(error)}, or ${otherModel}.`;
    case 'overloaded':
      return `${host} is still overloaded${tried} ${said}. Run again later, or ${otherModel}.`;
    case 'context_length':
      return `The conversation is too long for ${model} ${said}. Compact it, or set ${modelVariable} to a model with a larger window.`;
    case 'content_filter':
      return `The content filter of ${host} refused the request ${said}. Say it in other words, or ${otherModel}.`;
    case 'bad_request':
      return `${host} refused the request ${said}. Check ${modelVariable} ("${model}") and ${urlVariable}.`;
    case 'misconfigured':
      return `${host} does not know the model "${model}" ${said}. Set ${modelVariable} to one that it offers.`;
    case 'empty':
      return `The model "${model}" answered nothing${tried}. Run again, or ${otherModel}.`;
    case 'not_sse':
      return `${host} does not answer like an OpenAI-compatible server ${said}. Check ${urlVariable}; it often ends in /v1.`;
    case 'timeout':
    case 'stalled':
      return `${host} went silent${tried} ${said}. Run again, or ${otherModel}.`;
    case 'incomplete':
    case 'bad_event':
      return `${host} sent a damaged reply${tried} ${said}. Run again, or ${otherModel}.`;
    case 'server':
      return `The call to ${host} failed${tried} ${said}. Check ${urlVariable}, and run again when the provider works.`;
    case 'budget':
    case 'cancelled':
      return error.message;
    default:
      return kind satisfies never;
  }
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

function waitOf(error: UpstreamError): string {
  return error.waitMs === undefined ? '' : ` (it asks to wait ${Math.ceil(error.waitMs / 1000)} s)`;
}

function oneLine(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
