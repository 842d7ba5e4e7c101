import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../base/log.ts';
import { type Model, type ModelChoice, ModelError } from '../core/model.ts';
import type { RunEvent } from '../protocol/index.ts';
import { toChatBody } from './chat-body.ts';
import { type BudgetLevel, budgetLevel } from './money/budget.ts';
import { Ledger, type LedgerRow, type UsageEvent } from './money/ledger.ts';
import { toTurn } from './reply.ts';
import { gatewayListener } from './server/gateway-server.ts';
import { Tokens } from './server/tokens.ts';
import { openEndpoint } from './upstream/endpoint.ts';
import { Limiter } from './upstream/limiter.ts';
import { ModelCalls, type Route } from './upstream/model-calls.ts';
import { defaultRetry, type RetryOptions } from './upstream/retry.ts';
import { defaultTimeouts, type Timeouts } from './upstream/watchdog.ts';

/** A server of models and its own key; `''` when it wants none. */
interface UpstreamOptions {
  readonly baseURL: string;
  readonly apiKey: string;
}

/** Names of models at their provider; a missing one falls back to `default`. */
export type ModelNames = Readonly<
  { default: string } & { [K in Exclude<ModelChoice, 'default'>]?: string | undefined }
>;

export interface GatewayOptions {
  readonly upstream: UpstreamOptions;
  /** Tried in order when the upstream failed for good with something another provider may not have. */
  readonly fallbacks?: readonly (UpstreamOptions & { readonly models?: ModelNames })[];
  readonly models: ModelNames;
  /** Tokens of the whole run. Default 3 000 000. */
  readonly budgetTokens?: number;
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
  readonly log: Log;
  /** Puts a usage record into the message log; awaited before a reply is handed on. */
  record(event: UsageEvent, taskId: string): Promise<void>;
  /** What a model thinks, line by line. */
  onThinking?(role: string, line: string): void;
  /** One line for people, such as a long wait. */
  onNotice?(line: string): void;
  /** The log's events so far, after a restart; only usage records count. */
  readonly earlier?: Iterable<{ readonly event: RunEvent; readonly taskId: string }>;
}

/** What a run has used so far. */
interface UsageTotals {
  readonly calls: number;
  readonly failed: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly thinking: number;
  /** Input and output together: what the budget counts. */
  readonly tokens: number;
  readonly budgetTokens: number;
  readonly level: BudgetLevel;
  readonly rows: readonly LedgerRow[];
}

export interface Gateway {
  /** `http://127.0.0.1:PORT/v1`; tokens are asked for at `/npc/attempts` beside it. */
  readonly url: string;
  /** A token by which an agent process gets the tokens of its attempts. */
  grantProcess(process: { agent: string; role: string }): string;
  /** Ends the calls of the task's attempt; a later attempt can still come. */
  revokeTask(taskId: string): void;
  /** The same service without the hop, for code in this process. */
  modelFor(caller: { role: string; agent: string; taskId: string; attempt?: number }): Model;
  usage(): UsageTotals;
  /** Changes the names that the first upstream is asked for, for calls that begin afterwards. */
  useModels(models: ModelNames): void;
  /** Aborts what runs and stops listening. */
  close(): Promise<void>;
}

const variables: Route['variables'] = {
  key: 'OPENAI_API_KEY',
  url: 'OPENAI_BASE_URL',
  models: { default: 'NPC_MODEL', flash: 'NPC_FLASH_MODEL', review: 'NPC_REVIEW_MODEL', vision: 'NPC_VISION_MODEL' },
};

/** Starts the one place where a run's model calls pass, on a free loopback port. Throws AppError `misconfigured` on a bad base URL. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { budgetTokens = 3_000_000, log } = options;
  const ledger = new Ledger();
  for (const { event, taskId } of options.earlier ?? []) if (event.type === 'usage.recorded') ledger.add(event, taskId);
  const tokens = new Tokens();
  const closing = new AbortController();
  const routes = routesOf(options);
  const calls = new ModelCalls({
    routes,
    ledger,
    budgetTokens,
    retry: { ...defaultRetry, ...options.retry },
    extraBody: options.extraBody ?? {},
    mask: options.secretsMask ?? ((text) => text),
    record: (event, taskId) => options.record(event, taskId),
    onThinking: (role, line) => options.onThinking?.(role, line),
    onNotice: (line) => options.onNotice?.(line),
    timeLeftMs: options.timeLeftMs,
    log,
  });
  const server = createServer(
    gatewayListener({
      ...{ tokens, calls, log, signal: closing.signal, keepAliveMs: options.keepAliveMs ?? 5000 },
      models: modelList(options.models),
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/v1`,
    grantProcess: (process) => tokens.grantProcess(process),
    revokeTask: (taskId) => tokens.revokeTask(taskId),
    modelFor({ attempt = 1, ...caller }) {
      return {
        async reply(request, signal, onDelta) {
          const joined = AbortSignal.any([signal, closing.signal]);
          const who = { ...caller, attempt, turn: request.turn };
          return toTurn(await calls.reply(toChatBody(request), request.choice, who, joined, { onDelta }));
        },
      };
    },
    usage: () => totalsOf(ledger, budgetTokens),
    useModels(models) {
      const [first] = routes;
      if (first) first.models = namesOf(models);
    },
    async close() {
      closing.abort(new ModelError('cancelled', 'The run is ending.', { retryable: false }));
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        // what was aborted gets a moment to say so
        setTimeout(() => server.closeAllConnections(), 100).unref();
        server.closeIdleConnections();
      });
    },
  };
}

function routesOf(options: GatewayOptions): Route[] {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  return [{ ...options.upstream, models: options.models }, ...(options.fallbacks ?? [])].map((one) => ({
    endpoint: openEndpoint({ baseURL: one.baseURL, apiKey: one.apiKey, timeouts }),
    limiter: new Limiter(options.concurrency ?? 4),
    models: namesOf(one.models ?? options.models),
    variables,
  }));
}

function namesOf({
  default: main,
  flash = main,
  review = main,
  vision = main,
}: ModelNames): Record<ModelChoice, string> {
  return { default: main, flash, review, vision };
}

function modelList(models: ModelNames): string[] {
  const choices = Object.keys(namesOf(models));
  return [...new Set([...choices, ...Object.values(namesOf(models))])];
}

function totalsOf(ledger: Ledger, budgetTokens: number): UsageTotals {
  const rows = ledger.rows();
  const sum = (key: 'calls' | 'failed' | 'input' | 'output' | 'cached' | 'thinking') =>
    rows.reduce((total, row) => total + row[key], 0);
  return {
    ...{ calls: sum('calls'), failed: sum('failed'), input: sum('input'), output: sum('output') },
    ...{ cached: sum('cached'), thinking: sum('thinking'), tokens: ledger.tokens, budgetTokens, rows },
    level: budgetLevel(ledger.tokens, budgetTokens),
  };
}
