import { estimateTokens } from '../../base/estimate-tokens.ts';
import type { Log } from '../../base/log.ts';
import type { ModelChoice } from '../../core/model.ts';
import { type ChatBody, textsOf } from '../chat-body.ts';
import type { Spending } from '../money/spending.ts';
import type { Reply } from '../reply.ts';
import { advise } from './advice.ts';
import type { Language } from './advice-texts.ts';
import { untilUsable } from './ask-again.ts';
import type { Dialects } from './dialect.ts';
import { UpstreamError, wordless } from './errors.ts';
import { learnFrom } from './learn.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import type { Route } from './route.ts';
import { shapeBody } from './shape-body.ts';
import { type Try, type TryServices, tryOnce } from './single-try.ts';

/** Waits from here on are told to people, ms. */
const LONG_WAIT = 3000;

/** Lessons that one call may take: a server that refuses every try must not be asked for ever. */
const MOST_LESSONS = 12;

/** A call as it is meant, before a dialect shapes it. */
export type Call = Omit<Try, 'asked' | 'onHeaders'> & { readonly choice: ModelChoice };

export interface RouteServices extends TryServices {
  readonly dialects: Dialects;
  /** Of what is said about a failed call. */
  readonly language: Language;
  readonly retry: RetryOptions;
  readonly timeLeftMs: (() => number) | undefined;
  readonly onNotice: (line: string) => void;
  readonly spending: Spending;
  readonly log: Log;
}

/** Asks one route until it answers or fails for good, and then rejects with a {@link ModelError} that says what to do; its cause is the last {@link UpstreamError}. */
export async function askRoute(route: Route, call: Call, services: RouteServices): Promise<Reply> {
  const { endpoint, limiter, pacer, variables } = route;
  const { signal, choice, caller } = call;
  const { log, onNotice } = services;
  const model = route.models[choice];
  const body = { ...call.body, model };
  let tries = 0;
  const tell = (ms: number, what: string) => {
    log.info({ ms, agent: caller.agent, host: endpoint.host, what }, 'waiting');
    if (ms >= LONG_WAIT) onNotice(`${caller.agent}: ${endpoint.host} ${what}; next try in ${Math.ceil(ms / 1000)} s`);
  };
  const attempt = async (number: number) => {
    tries = number;
    const ask = async (one: Call) => {
      const onWait = (ms: number) => tell(ms, 'takes only so much a minute');
      await pacer.pass(() => sizeOf(one.body), signal, onWait, services.timeLeftMs);
      return await services.spending.during({ ...one, host: endpoint.host }, (paid, told) =>
        inDialect(route, { ...one, body: paid, told }, services),
      );
    };
    return await limiter.run(signal, () => untilUsable({ ...call, body }, ask));
  };
  try {
    return await withRetries(attempt, {
      ...services.retry,
      signal,
      timeLeftMs: services.timeLeftMs,
      onWait: (error, ms) => tell(ms, `failed (${error.kind})`),
    });
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    throw advise(error, {
      language: services.language,
      ...{ host: endpoint.host, hasKey: endpoint.hasKey, model, tries },
      ...{ keyVariable: variables.key, urlVariable: variables.url, modelVariable: variables.models[choice] },
    });
  }
}

/** Sends the body in the model's dialect. A refusal that teaches something is followed at once; what was learned stays when it helped. */
async function inDialect({ endpoint, pacer }: Route, call: Call, services: RouteServices): Promise<Reply> {
  const { dialects, log } = services;
  const { model } = call.body;
  let dialect = dialects.of(endpoint.baseURL, model);
  const tried = new Set<string>();
  const mayLearn = () => tried.size <= MOST_LESSONS;
  for (;;) {
    tried.add(JSON.stringify(dialect));
    const body = shapeBody(call.body, dialect);
    try {
      const reply = await tryOnce(
        endpoint,
        { ...call, asked: call.body, body, onHeaders: (headers) => pacer.heard(headers) },
        services,
      );
      if (tried.size > 1) dialects.set(endpoint.baseURL, model, dialect);
      return reply;
    } catch (error) {
      const learned = error instanceof UpstreamError && mayLearn() ? learnFrom(dialect, body, error, tried) : undefined;
      if (!learned) throw mayBeTooLong(error, call.body, services.facts.windowOf({ model, host: endpoint.host }));
      log.info({ host: endpoint.host, model, said: (error as Error).message }, 'trying another dialect');
      dialect = learned;
    }
  }
}

/** Some say nothing at all when a request is too long; one that fills half of the window is taken for such. */
function mayBeTooLong(error: unknown, body: ChatBody, window: number): unknown {
  if (!(error instanceof UpstreamError) || error.status !== 400 || error.message !== wordless(400)) return error;
  if (sizeOf(body) < window / 2) return error;
  return new UpstreamError('context_length', error.message, { status: 400, cause: error });
}

/** About how many tokens a request brings. */
function sizeOf(body: ChatBody): number {
  let tokens = 0;
  for (const text of textsOf(body)) tokens += estimateTokens(text);
  return tokens;
}
