import type { z } from 'zod';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { backoff, sleep } from '../base/time.ts';
import { refused, unanswered } from './api-error.ts';

type Query = Readonly<Record<string, string | number>>;

/** The part of CNB's HTTP API that is ours. Every method throws `AppError('forge')`; its details are {@link ForgeErrorDetails}. */
export interface CnbApi {
  get<T>(path: string, schema: z.ZodType<T>, query?: Query): Promise<T>;
  /** All items of a paged list, page by page. */
  list<T extends object>(path: string, schema: z.ZodType<T>, query?: Query): AsyncGenerator<T, void, undefined>;
  /** Sent once and never again by itself. Undefined: the answer was empty. */
  write<T>(method: 'POST' | 'PATCH' | 'PUT', path: string, body: unknown, schema: z.ZodType<T>): Promise<T | undefined>;
}

export interface CnbApiOptions {
  readonly endpoint: string;
  readonly token: string;
  readonly log: Log;
  readonly signal?: AbortSignal;
  readonly timing?: Partial<ApiTiming>;
}

/** All in ms, `attempts` apart. */
export interface ApiTiming {
  /** Until the whole answer is there. */
  readonly timeout: number;
  /** How often a GET is sent at most. */
  readonly attempts: number;
  readonly backoffBase: number;
  readonly backoffCap: number;
  /** The longest `Retry-After` that is waited for. */
  readonly retryAfterCap: number;
}

const defaults: ApiTiming = {
  timeout: 30_000,
  attempts: 5,
  backoffBase: 500,
  backoffCap: 10_000,
  retryAfterCap: 60_000,
};
const pageSize = 100;
/** Page sizes that CNB uses by itself: a page of that length may be full although more items were asked for. */
const ownPageSizes = new Set([10, 20, 30, 50]);

/** Joins path segments, each encoded by itself; slashes inside a segment (slug, branch) stay. */
export function apiPath(...segments: readonly string[]): string {
  return segments
    .flatMap((segment) => segment.split('/'))
    .map((part) => `/${encodeURIComponent(part)}`)
    .join('');
}

/** Opens nothing: every call is a request of its own. */
export function createCnbApi(options: CnbApiOptions): CnbApi {
  const timing = { ...defaults, ...options.timing };

  async function exchange<T>(
    request: RequestInit & { method: string },
    path: string,
    schema: z.ZodType<T>,
  ): Promise<T | undefined> {
    const at = { method: request.method, path: path.replace(/\?.*$/, '') };
    const { response, body } = await receive(request, path, at);
    if (!response.ok) throw refused(at, response, body);
    if (body.trim() === '') return undefined;
    try {
      return schema.parse(JSON.parse(body));
    } catch (error) {
      throw unanswered(at, error);
    }
  }

  async function receive(
    request: RequestInit & { method: string },
    path: string,
    at: { method: string; path: string },
  ) {
    const timeout = AbortSignal.timeout(timing.timeout);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    try {
      const response = await fetch(options.endpoint + path, {
        ...request,
        signal,
        headers: {
          accept: 'application/vnd.cnb.api+json',
          authorization: `Bearer ${options.token}`,
          ...(request.body != null && { 'content-type': 'application/json' }),
        },
      });
      return { response, body: await response.text() };
    } catch (error) {
      options.signal?.throwIfAborted();
      throw unanswered(at, error);
    }
  }

  /** GET only: reading twice harms nobody. */
  async function get<T>(path: string, schema: z.ZodType<T>, query: Query = {}): Promise<T> {
    const address = path + search(query);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const value = await exchange({ method: 'GET' }, address, schema);
        if (value === undefined) throw unanswered({ method: 'GET', path }, 'the answer was empty');
        return value;
      } catch (error) {
        const wait = attempt + 1 < timing.attempts ? retryAfter(error, attempt, timing) : undefined;
        if (wait === undefined) throw error;
        options.log.warn({ path, attempt, wait, err: error }, 'request failed, trying again');
        await sleep(wait, options.signal);
      }
    }
  }

  async function* list<T extends object>(
    path: string,
    schema: z.ZodType<T>,
    query: Query = {},
  ): AsyncGenerator<T, void, undefined> {
    const seen = new Set<string>();
    for (let page = 1; ; page += 1) {
      const items = await get(path, schema.array(), { ...query, page, page_size: pageSize });
      // A server that ignores `page` repeats itself for ever.
      const fresh = items.filter((item) => !seen.has(keyOf(item)));
      for (const item of fresh) seen.add(keyOf(item));
      yield* fresh;
      if (fresh.length === 0 || (items.length < pageSize && !ownPageSizes.has(items.length))) return;
    }
  }

  return {
    get,
    list,
    write: (method, path, body, schema) => exchange({ method, body: JSON.stringify(body) }, path, schema),
  };
}

function search(query: Query): string {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return parameters.size > 0 ? `?${parameters}` : '';
}

function keyOf(item: object): string {
  const { id, number } = item as { id?: string; number?: string };
  return id ?? number ?? JSON.stringify(item);
}

/** How long to wait before a GET is sent again, ms; undefined: not at all. */
function retryAfter(error: unknown, attempt: number, timing: ApiTiming): number | undefined {
  if (!(error instanceof AppError)) return undefined;
  const { status, retryAfterMs } = error.details as { status?: number; retryAfterMs?: number };
  if (status !== undefined && status !== 429 && status < 500) return undefined;
  const asked = retryAfterMs === undefined ? 0 : Math.min(retryAfterMs, timing.retryAfterCap);
  return Math.max(asked, backoff(attempt, { baseMs: timing.backoffBase, capMs: timing.backoffCap }));
}
