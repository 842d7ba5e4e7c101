import type { Log } from '../base/log.ts';
import type { ModelChoice } from '../core/model.ts';
import type { BudgetLimits, RunEvent } from '../protocol/index.ts';
import type { Caller } from './caller.ts';
import type { Tape } from './cassette/tape.ts';
import type { UsageEvent } from './money/ledger.ts';
import type { PriceTable } from './money/price-table.ts';
import type { Language } from './upstream/advice-texts.ts';
import type { Dialect, DialectTable } from './upstream/dialect.ts';
import type { PaceLimits } from './upstream/pacer.ts';
import type { ProxySettings } from './upstream/proxy.ts';
import type { RetryOptions } from './upstream/retry.ts';
import type { CooldownOptions } from './upstream/route.ts';
import type { Timeouts } from './upstream/watchdog.ts';

/** A server of models and its own key; `''` when it wants none. */
export interface UpstreamOptions {
  readonly baseURL: string;
  readonly apiKey: string;
  /** What messages call its settings. Default: OPENAI_BASE_URL, OPENAI_API_KEY and NPC_MODEL. */
  readonly settings?: { readonly key: string; readonly url: string; readonly model: string };
  /** Its calls are paid for with a platform's credits, not with money. Default false. */
  readonly onCredits?: boolean;
  /** Whether it takes tools, where that is known. Default: found out. */
  readonly tools?: Dialect['tools'];
}

/** Another server of models. */
export interface FallbackOptions extends UpstreamOptions {
  /** Default: the names at the upstream. */
  readonly models?: ModelNames;
}

/** Names of models at their provider; a missing one falls back to `default`. */
export type ModelNames = Readonly<
  { default: string } & { [K in Exclude<ModelChoice, 'default'>]?: string | undefined }
>;

export interface GatewayOptions {
  readonly upstream: UpstreamOptions;
  readonly models: ModelNames;
  /** Models of the upstream that are tried in order when it failed with something another model may not have. */
  readonly fallbackModels?: readonly string[];
  /** Tried in order after those. Each is sent its own key only, so that one without a key gets none. */
  readonly fallbacks?: readonly FallbackOptions[];
  /** How long a route that failed is passed over while there is another. */
  readonly cooldown?: Partial<CooldownOptions>;
  /** Limits of the upstream; without them, what it says of itself counts. */
  readonly pace?: PaceLimits;
  /** What is known of endpoints and their models from before. */
  readonly dialects?: DialectTable;
  /** How hosts other than this machine are reached. Default: directly. */
  readonly proxies?: ProxySettings;
  /** What the whole run may use. Default 3 000 000 tokens, also beside other limits; rates default to those of `prices`. */
  readonly budget?: BudgetLimits;
  /** What models cost and hold. Default: the table that comes with the program. */
  readonly prices?: PriceTable;
  /** What the context of the default model holds, tokens, whatever `prices` says. */
  readonly window?: number;
  /** How long the run worked before this process, seconds: a budget of time goes on after a restart. Default 0. */
  readonly earlierSeconds?: number;
  /** Records what models are asked and answer, or answers instead of them. Whoever opened it closes it. */
  readonly tape?: Tape;
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryOptions>;
  /** Calls at once to one endpoint, over all agents. Default 4. */
  readonly concurrency?: number;
  /** How often a waiting caller hears something, ms. Default 5000. */
  readonly keepAliveMs?: number;
  /** Time left for the whole run, ms; no wait goes beyond it. */
  readonly timeLeftMs?: () => number;
  /** Added to every request, for a provider's own settings. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
  /** Masks secrets in what goes to a model and in thinking. */
  readonly secretsMask?: (text: string) => string;
  /** Of what people are told about a failed call. Default `en`. */
  readonly language?: Language;
  readonly log: Log;
  /** Puts a usage record into the message log; awaited before a reply is handed on. */
  record(event: UsageEvent, taskId: string): Promise<void>;
  /** What a model thinks, line by line, and for whom. */
  onThinking?(caller: Caller, line: string): void;
  /** One line for people, such as a long wait. */
  onNotice?(line: string): void;
  /** The log's events so far, after a restart; only usage records count. */
  readonly earlier?: Iterable<{ readonly event: RunEvent; readonly taskId: string }>;
}
