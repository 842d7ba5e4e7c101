import type { Log } from '../../base/log.ts';
import { type ModelChoice, ModelError } from '../../core/model.ts';
import type { Caller, Listener } from '../caller.ts';
import type { ChatBody } from '../chat-body.ts';
import { budgetLevel } from '../money/budget.ts';
import type { Reply } from '../reply.ts';
import { advise } from './advice.ts';
import { cleanBody } from './clean-body.ts';
import { Dialects } from './dialect.ts';
import type { Endpoint } from './endpoint.ts';
import { UpstreamError } from './errors.ts';
import type { Limiter } from './limiter.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import { type Try, type TryServices, tryOnce } from './single-try.ts';

/** One place to send calls to: an endpoint, the names its models have there, and what a message calls its settings. */
export interface Route {
  readonly endpoint: Endpoint;
  readonly limiter: Limiter;
  /** May change while a run is set up. */
  models: Readonly<Record<ModelChoice, string>>;
  readonly variables: {
    readonly key: string;
    readonly url: string;
    readonly models: Readonly<Record<ModelChoice, string>>;
  };
}

export interface ModelCallsOptions extends TryServices {
  /** In order of preference; never empty. */
  readonly routes: readonly Route[];
  readonly budgetTokens: number;
  readonly retry: RetryOptions;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly onNotice: (line: string) => void;
  readonly timeLeftMs: (() => number) | undefined;
  readonly log: Log;
}

interface Call extends Try {
  readonly choice: ModelChoice;
}

/** Failures that another provider may not have. */
const worthAnotherRoute = new Set([
  ...['auth', 'quota', 'rate_limit', 'overloaded', 'server', 'incomplete'],
  ...['empty', 'bad_event', 'not_sse', 'timeout', 'stalled'],
]);

/** Waits from here on are told to people, ms. */
const LONG_WAIT = 3000;

/** Makes the model calls of a run: budget, turns, limits, dialects, retries and fallbacks around single tries. */
export class ModelCalls {
  readonly #options: ModelCallsOptions;
  readonly #dialects = new Map<Route, Dialects>();

  constructor(options: ModelCallsOptions) {
    this.#options = options;
    for (const route of options.routes) this.#dialects.set(route, new Dialects());
  }

  /** One reply, already in the ledger. Rejects with {@link ModelError} or the signal's reason. */
  async reply(
    body: ChatBody,
    choice: ModelChoice,
    caller: Caller,
    signal: AbortSignal,
    listener: Listener,
  ): Promise<Reply> {
    this.#checkBudget();
    const clean = cleanBody({ ...this.#options.extraBody, ...body }, this.#options.mask);
    const call: Call = { body: clean, choice, caller: this.#numbered(caller, choice), signal, listener };
    let first: unknown;
    for (const route of this.#options.routes) {
      try {
        return await this.#over(route, call);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ModelError) || !worthAnotherRoute.has(error.kind)) throw error;
        this.#options.log.warn({ kind: error.kind, host: route.endpoint.host }, 'endpoint failed');
        first ??= error;
      }
    }
    throw first;
  }

  async #over(route: Route, call: Call): Promise<Reply> {
    const { signal, choice } = call;
    const { retry, timeLeftMs } = this.#options;
    const model = route.models[choice];
    let tries = 0;
    const attempt = async (number: number) => {
      tries = number;
      if (number > 1) this.#checkBudget();
      return await route.limiter.run(signal, () => this.#inDialect(route, { ...call, body: { ...call.body, model } }));
    };
    const onWait = (error: UpstreamError, ms: number) => this.#tellWait(route, call, error, ms);
    try {
      return await withRetries(attempt, { ...retry, signal, timeLeftMs, onWait });
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const { endpoint, variables } = route;
      throw advise(error, {
        ...{ host: endpoint.host, hasKey: endpoint.hasKey, model, tries },
        ...{ keyVariable: variables.key, urlVariable: variables.url, modelVariable: variables.models[choice] },
      });
    }
  }

  /** Sends the body in the endpoint's dialect; a refusal that names a field is learned from, and the body sent again. */
  async #inDialect(route: Route, call: Call): Promise<Reply> {
    const dialects = this.#dialects.get(route) ?? new Dialects();
    for (;;) {
      try {
        return await tryOnce(route.endpoint, { ...call, body: dialects.shape(call.body) }, this.#options);
      } catch (error) {
        if (!(error instanceof UpstreamError) || !dialects.learn(call.body, error)) throw error;
        this.#options.log.info({ host: route.endpoint.host, said: error.message }, 'learned what the endpoint refuses');
      }
    }
  }

  /** Calls to the small model are a role of their own, so that they do not shift their caller's turns; the judge stays the judge. */
  #numbered(caller: Caller, choice: ModelChoice): Call['caller'] {
    const role = choice === 'flash' && caller.role !== 'judge' ? 'flash' : caller.role;
    const known = role === 'flash' ? undefined : caller.turn;
    return { ...caller, role, turn: known ?? this.#options.ledger.turnsOf(role, caller.taskId) };
  }

  #tellWait(route: Route, { caller }: Call, error: UpstreamError, ms: number): void {
    const { log, onNotice } = this.#options;
    log.info({ kind: error.kind, ms, agent: caller.agent }, 'waiting before another try');
    if (ms < LONG_WAIT) return;
    onNotice(`${caller.agent}: ${route.endpoint.host} failed (${error.kind}); next try in ${Math.ceil(ms / 1000)} s`);
  }

  #checkBudget(): void {
    const { ledger, budgetTokens } = this.#options;
    if (budgetLevel(ledger.tokens, budgetTokens) !== 'spent') return;
    const used = `The run's budget of ${budgetTokens} tokens is used up (${ledger.tokens}).`;
    throw new ModelError('budget', `${used} Set NPC_BUDGET_TOKENS to more and run again to go on.`, {
      retryable: false,
    });
  }
}
