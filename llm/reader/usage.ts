import type { Usage } from '../../protocol/index.ts';
import { isObject } from '../upstream/errors.ts';

/** A provider's `usage` object in our form, whichever names it uses; null when it is none. */
export function toUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const prompt = isObject(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const completion = isObject(value.completion_tokens_details) ? value.completion_tokens_details : {};
  const cached =
    count(prompt.cached_tokens) ??
    count(value.prompt_cache_hit_tokens) ??
    count(value.cached_tokens) ??
    count(value.cache_read_input_tokens) ??
    0;
  const written =
    count(prompt.cache_write_tokens) ??
    count(prompt.cache_creation_tokens) ??
    count(prompt.cache_creation_input_tokens) ??
    count(value.cache_creation_input_tokens) ??
    0;
  const credits = amount(value.credit) ?? amount(value.credits);
  const thinking = count(completion.reasoning_tokens) ?? 0;
  return {
    input: inputOf(count(value.prompt_tokens), cached + written),
    output: outputOf(value, thinking),
    ...{ cached, thinking },
    ...(written > 0 ? { written } : {}),
    ...(credits === undefined ? {} : { credits }),
  };
}

/** Some gateways in front of Anthropic count what came from or went into the cache beside the prompt, not in it. */
function inputOf(prompt: number | undefined, cacheParts: number): number | null {
  if (prompt === undefined) return null;
  return prompt < cacheParts ? prompt + cacheParts : prompt;
}

/** Some providers count thinking beside the completion, not in it; only the total shows it. */
function outputOf(value: Record<string, unknown>, thinking: number): number | null {
  const completion = count(value.completion_tokens);
  if (completion === undefined) return null;
  const total = count(value.total_tokens);
  const isBeside = thinking > 0 && total === (count(value.prompt_tokens) ?? 0) + completion + thinking;
  return isBeside ? completion + thinking : completion;
}

function count(value: unknown): number | undefined {
  const number = amount(value);
  return number === undefined ? undefined : Math.round(number);
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
