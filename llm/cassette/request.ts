import { createHash } from 'node:crypto';
import type { ChatBody } from '../chat-body.ts';

/** A request in the parts that a cassette keeps once each. */
export interface TakenRequest {
  readonly model: string;
  /** Everything beside model, messages and tools. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly messages: readonly unknown[];
  readonly tools: unknown;
}

/** A request whose parts have hashes. */
export interface HashedRequest {
  readonly model: string;
  readonly params: string;
  readonly parts: string[];
  readonly tools?: string;
  readonly key: string;
  /** The parts by their hashes. */
  readonly values: ReadonlyMap<string, unknown>;
}

/** How the reply comes, whom it is for, and how long it may be (which the rest of the budget decides): no reply is another for them. */
const notInKey = new Set([
  ...['stream', 'stream_options', 'user', 'metadata', 'store', 'safety_identifier', 'prompt_cache_key'],
  ...['max_tokens', 'max_completion_tokens'],
]);

/** Takes a request apart. */
export function takeApart({ model, messages, tools, ...params }: ChatBody): TakenRequest {
  return { model, params, messages, tools: tools ?? undefined };
}

/**
 * The request with the hash of each part. The key is the SHA-256 of the canonical JSON of the model, the parameters that change a
 * reply, the hashes of the messages in order, and that of the list of tools.
 */
export function hashRequest({ model, params, messages, tools }: TakenRequest): HashedRequest {
  const values = new Map<string, unknown>();
  const keep = (value: unknown) => {
    const hash = hashOf(value);
    values.set(hash, value);
    return hash;
  };
  const parts = messages.map(keep);
  const hashed = { model, params: keep(params), parts, ...(tools !== undefined && { tools: keep(tools) }) };
  const key = hashOf({ ...{ model, parts }, params: inKey(params), tools: hashed.tools ?? null });
  return { ...hashed, key, values };
}

/** The parameters that change a reply. */
export function inKey(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([name, value]) => !notInKey.has(name) && value !== null));
}

/** SHA-256 of a value's canonical JSON, in hex. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/** JSON in which the order of keys, and keys without a value, make no difference. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sortKeys) ?? 'null';
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
