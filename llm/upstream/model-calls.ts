import { type ModelChoice, ModelError } from '../../core/model.ts';
import type { Caller, Listener } from '../caller.ts';
import { NotRecorded } from '../cassette/not-recorded.ts';
import type { ChatBody } from '../chat-body.ts';
import type { Reply } from '../reply.ts';
import { type Language, together } from './advice-texts.ts';
import { askRoute, type Call, type RouteServices } from './ask-route.ts';
import { CallMarks } from './call-marks.ts';
import { cleanBody } from './clean-body.ts';
import { UpstreamError } from './errors.ts';
import { withFreshIds } from './fresh-ids.ts';
import type { RetryOptions } from './retry.ts';
import { type CooldownOptions, Cooldowns, type Route } from './route.ts';

export interface ModelCallsOptions extends RouteServices {
  /** In order of preference; never empty. */
  readonly routes: readonly Route[];
  readonly cooldown: CooldownOptions;
  readonly extraBody: Readonly<Record<string, unknown>>;
}

/** Failures that another provider, or another model, may not have. */
const worthAnotherRoute = new Set([
  ...['auth', 'quota', 'rate_limit', 'overloaded', 'server', 'incomplete', 'misconfigured'],
  ...['empty', 'bad_event', 'not_sse', 'timeout', 'stalled'],
]);

/** With another route at hand, one is not tried as often, nor waited for as long. */
const impatient = { attempts: 2, maxWaitMs: 10_000 };

/** Makes the model calls of a run: budget, turns, and the routes in order. */
export class ModelCalls {
  readonly #options: ModelCallsOptions;
  readonly #cooldowns: Cooldowns;
  readonly #marks = new CallMarks();

  constructor(options: ModelCallsOptions) {
    this.#options = options;
    this.#cooldowns = new Cooldowns(options.cooldown);
  }

  /** One reply, already in the ledger. Rejects with {@link ModelError} or the signal's reason. */
  async reply(
    body: ChatBody,
    choice: ModelChoice,
    caller: Caller,
    signal: AbortSignal,
    listener: Listener,
  ): Promise<Reply> {
    this.#options.spending.check(caller.agent);
    const clean = cleanBody({ ...this.#options.extraBody, ...body }, this.#options.mask);
    const marked = { ...clean, messages: this.#marks.restore(clean.messages) };
    const call: Call = { body: marked, choice, caller: this.#numbered(caller, choice), signal, listener };
    const reply = withFreshIds(await this.#overRoutes(call), marked.messages);
    this.#marks.remember(reply);
    return reply;
  }

  async #overRoutes(call: Call): Promise<Reply> {
    const { choice, signal } = call;
    const routes = this.#cooldowns.ready(this.#options.routes, choice);
    const failed: { route: Route; error: ModelError }[] = [];
    for (const [at, route] of routes.entries()) {
      const { retry } = this.#options;
      try {
        const reply = await askRoute(route, call, {
          ...this.#options,
          retry: at < routes.length - 1 ? hurried(retry) : retry,
        });
        this.#cooldowns.worked(route, choice);
        return reply;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ModelError) || error instanceof NotRecorded) throw error;
        if (!worthAnotherRoute.has(error.kind)) throw error;
        if (error.cause instanceof UpstreamError) this.#cooldowns.failed(route, choice, error.cause);
        failed.push({ route, error });
        this.#tellFailed(call, route, error, routes[at + 1]);
      }
    }
    throw togetherOf(
      failed.map(({ route, error }) => ({ name: nameOf(route, choice), error })),
      this.#options.language,
    );
  }

  #tellFailed({ caller, choice }: Call, route: Route, error: ModelError, next: Route | undefined): void {
    const { log, onNotice } = this.#options;
    log.warn({ kind: error.kind, host: route.endpoint.host, model: route.models[choice] }, 'endpoint failed');
    if (next) onNotice(`${caller.agent}: ${error.message} Asking ${nameOf(next, choice)} instead.`);
  }

  /** Calls to the small model are a role of their own, so that they do not shift their caller's turns; the judge stays the judge. */
  #numbered(caller: Caller, choice: ModelChoice): Call['caller'] {
    const role = choice === 'flash' && caller.role !== 'judge' ? 'flash' : caller.role;
    const known = role === 'flash' ? undefined : caller.turn;
    return { ...caller, role, turn: known ?? this.#options.ledger.turnsOf(role, caller.taskId) };
  }
}

function hurried(retry: RetryOptions): RetryOptions {
  return {
    ...retry,
    attempts: Math.min(retry.attempts, impatient.attempts),
    maxWaitMs: Math.min(retry.maxWaitMs, impatient.maxWaitMs),
  };
}

function nameOf({ endpoint, models }: Route, choice: ModelChoice): string {
  return `${models[choice]} at ${endpoint.host}`;
}

/** The first failure, which also names the others. */
function togetherOf(failed: readonly { name: string; error: ModelError }[], language: Language): ModelError {
  const [first, ...others] = failed;
  if (!first) return new ModelError('server', 'There is no model to ask.', { retryable: false });
  if (others.length === 0) return first.error;
  const rest = others.map(({ name, error }) => `${name} (${error.kind})`).join(', ');
  const { kind, message, cause } = first.error;
  const retryable = failed.some(({ error }) => error.retryable);
  return new ModelError(kind, together(message, rest, language), { retryable, cause });
}
