import { z } from 'zod';

/**
 * What one model at one endpoint takes and gives, beside the plain OpenAI form. It can be written down and read again; a part that
 * is missing has its default, so that an older file still serves.
 */
export const Dialect = z.object({
  /** Which of its thoughts an assistant message takes along: those of the current tool loop, one in every message, or none. */
  reasoning: z.enum(['loop', 'all', 'never']).default('loop'),
  /** The content of an assistant message that only calls: `null`, `""`, or none, where every other message must have text. */
  emptyContent: z.enum(['null', 'blank', 'absent']).default('null'),
  /** The field that limits the output; `none` where neither is taken. */
  limitField: z.enum(['max_tokens', 'max_completion_tokens', 'none']).default('max_tokens'),
  /** The most output tokens it lets a request ask for. */
  maxOutput: z.int().positive().optional(),
  /** Ids of calls in the history: as they are, of 9 letters and digits (Mistral), or of `A-Z a-z 0-9 _ -` only (Claude). */
  callIds: z.enum(['kept', 'nine', 'plain']).default('kept'),
  /** What may follow the results of tools; `assistant` where a user message may not. */
  afterTools: z.enum(['any', 'assistant']).default('any'),
  /** Whether one assistant message may hold several calls. */
  parallelCalls: z.boolean().default(true),
  /** Gemini's marks on calls: sent where known, or made up where a call has none. */
  signatures: z.enum(['kept', 'filled']).default('kept'),
  /** Whether the system message is one, or a part of the first user message. */
  system: z.enum(['kept', 'user']).default('kept'),
  /** Whether tools are offered as such, or in the prompt, where calls are then read from the text. */
  tools: z.enum(['native', 'text']).default('native'),
  /** Fields that a request must not have, at the top or in a function. */
  leftOut: z.array(z.string()).default([]),
});
export type Dialect = Readonly<z.infer<typeof Dialect>>;

/** Dialects by `host/path model`, as {@link dialectKey} makes it. */
export type DialectTable = Readonly<Record<string, Partial<Dialect>>>;

/** The name under which a model's dialect is kept. */
export function dialectKey(baseURL: string, model: string): string {
  return `${endpointKey(baseURL)} ${model}`;
}

/** The name of an endpoint in the keys of dialects. */
export function endpointKey(baseURL: string): string {
  const { host, pathname } = new URL(baseURL);
  return `${host}${pathname.replace(/\/+$/, '')}`;
}

/** What is known of a model by its name alone. */
export function presumedDialect(model: string): Dialect {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const mistral = /^((open-)?mi[sx]tral|ministral|codestral|devstral|magistral|pixtral)/.test(name);
  return Dialect.parse({
    ...(/^(o\d|gpt-5)/.test(name) && { limitField: 'max_completion_tokens' }),
    ...(mistral && { callIds: 'nine', afterTools: 'assistant' }),
    ...(name.includes('claude') && { callIds: 'plain' }),
  });
}

/** The dialects of a run; what is learned counts for all its agents. */
export class Dialects {
  readonly #known = new Map<string, Dialect>();
  readonly #given: DialectTable;
  readonly #endpoints: DialectTable;

  /** `given`: what is known from before; it wins over what a name lets presume. `endpoints`: what is set for all models, by `host/path`. */
  constructor(given: DialectTable = {}, endpoints: DialectTable = {}) {
    this.#given = given;
    this.#endpoints = endpoints;
  }

  of(baseURL: string, model: string): Dialect {
    const key = dialectKey(baseURL, model);
    const known = this.#known.get(key);
    if (known) return known;
    const set = this.#endpoints[endpointKey(baseURL)];
    const dialect = Dialect.parse({ ...presumedDialect(model), ...this.#given[key], ...set });
    this.#known.set(key, dialect);
    return dialect;
  }

  set(baseURL: string, model: string, dialect: Dialect): void {
    this.#known.set(dialectKey(baseURL, model), dialect);
  }

  /** Everything that is known now, to be written down. */
  table(): DialectTable {
    return { ...this.#given, ...Object.fromEntries(this.#known) };
  }
}
