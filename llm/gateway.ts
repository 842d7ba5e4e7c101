import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Model, type ModelChoice, ModelError } from '../core/model.ts';
import type { BudgetLimits, BudgetLine, Spent } from '../protocol/index.ts';
import type { Caller } from './caller.ts';
import { toChatBody } from './chat-body.ts';
import type { Slice } from './money/accounts.ts';
import { type BudgetLevel, budgetLevel } from './money/budget.ts';
import { Ledger, type LedgerRow } from './money/ledger.ts';
import { ModelFacts } from './money/model-facts.ts';
import { loadPrices } from './money/price-file.ts';
import { Spending } from './money/spending.ts';
import type { GatewayOptions, ModelNames } from './options.ts';
import { toTurn } from './reply.ts';
import { namesOf, openRoutes } from './routes.ts';
import { gatewayListener } from './server/gateway-server.ts';
import { ModelChoices } from './server/model-choices.ts';
import { Tokens } from './server/tokens.ts';
import { Dialects, type DialectTable, endpointKey } from './upstream/dialect.ts';
import { ModelCalls } from './upstream/model-calls.ts';
import { defaultRetry } from './upstream/retry.ts';
import { defaultCooldown } from './upstream/route.ts';

/** What a run has used so far. */
interface UsageTotals extends Spent {
  /** Input and output together. */
  readonly tokens: number;
  /** What is used of each limit of the budget. */
  readonly budget: readonly BudgetLine[];
  readonly level: BudgetLevel;
  readonly rows: readonly LedgerRow[];
}

/** Tokens that the context of each configured model holds. */
export type Windows = Readonly<Record<ModelChoice, number>>;

export interface Gateway {
  /** `http://127.0.0.1:PORT/v1`; tokens are asked for at `/npc/attempts` beside it. */
  readonly url: string;
  /**
   * A token by which an agent process gets the tokens of its attempts. With `slice` all calls of the agent come from that part of the
   * budget, cut out of the one of agent `of` or of the run's, and end with `budget` where it ends.
   */
  grantProcess(process: { agent: string; role: string; slice?: Slice; of?: string }): string;
  /** Gives what an agent left of its slice back to where it came from; the agent gets no more calls. */
  endSlice(agent: string): void;
  /** Ends the calls of the task's attempt; a later attempt can still come. */
  revokeTask(taskId: string): void;
  /** The same service without the hop, for code in this process. */
  modelFor(caller: Omit<Caller, 'attempt' | 'turn'> & { attempt?: number }): Model;
  usage(): UsageTotals;
  /** What the run may use. */
  readonly budget: BudgetLimits;
  windows(): Windows;
  /** What was learned of endpoints and their models so far, to be written down. */
  dialects(): DialectTable;
  /** Changes the names that the first upstream is asked for, for calls that begin afterwards. */
  useModels(models: ModelNames): void;
  /** Aborts what runs and stops listening. */
  close(): Promise<void>;
}

/** Starts the one place where a run's model calls pass, on a free loopback port. Throws AppError `misconfigured` on a bad base URL. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { keepAliveMs = 5000, log } = options;
  const onNotice = (line: string) => options.onNotice?.(line);
  const ledger = new Ledger();
  for (const { event, taskId } of options.earlier ?? []) if (event.type === 'usage.recorded') ledger.add(event, taskId);
  const prices = options.prices ?? (await loadPrices());
  const facts = new ModelFacts(prices, onNotice);
  const began = performance.now();
  const budget = { tokens: 3_000_000, rates: prices.rates, ...options.budget };
  const spending = new Spending({
    ...{ ledger, facts, onNotice, limits: budget },
    seconds: () => (options.earlierSeconds ?? 0) + (performance.now() - began) / 1000,
  });
  const tokens = new Tokens();
  const closing = new AbortController();
  const routes = openRoutes(options);
  const dialects = new Dialects(options.tape?.replays ? {} : options.dialects, knownTools(options));
  const calls = new ModelCalls({
    ...{ routes, ledger, facts, spending, dialects, onNotice, log },
    retry: { ...defaultRetry, ...options.retry, waits: options.tape?.replays !== true },
    cooldown: { ...defaultCooldown, ...options.cooldown },
    language: options.language ?? 'en',
    extraBody: options.extraBody ?? {},
    mask: options.secretsMask ?? ((text) => text),
    record: (event, taskId) => options.record(event, taskId),
    onThinking: (who, line) => options.onThinking?.(who, line),
    timeLeftMs: () => Math.min(options.timeLeftMs?.() ?? Infinity, spending.secondsLeft() * 1000),
  });
  const choices = new ModelChoices({ routes, facts, window: options.window });
  const server = createServer(
    gatewayListener({
      ...{ tokens, calls, spending, choices, ledger, log, signal: closing.signal, keepAliveMs },
    }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/v1`,
    budget,
    grantProcess({ slice, of, ...process }) {
      if (slice) spending.openSlice(process.agent, slice, of);
      return tokens.grantProcess(process);
    },
    endSlice: (agent) => spending.closeSlice(agent),
    revokeTask(taskId) {
      const slice = tokens.revokeTask(taskId);
      if (slice !== undefined) spending.closeSlice(slice);
    },
    modelFor({ attempt = 1, ...caller }) {
      return {
        async reply(request, signal, onDelta) {
          const joined = AbortSignal.any([signal, closing.signal]);
          const who = { ...caller, attempt, turn: request.turn };
          // one that waits for its turn, or for another try, hears something too
          const alive = setInterval(() => onDelta?.({ kind: 'alive' }), keepAliveMs);
          try {
            return toTurn(await calls.reply(toChatBody(request), request.choice, who, joined, { onDelta }));
          } finally {
            clearInterval(alive);
          }
        },
      };
    },
    usage: () => totalsOf(ledger, spending),
    windows: () => choices.windows(),
    dialects: () => dialects.table(),
    useModels(models) {
      for (const route of routes) if (route.follows) route.models = namesOf(models);
    },
    async close() {
      closing.abort(new ModelError('cancelled', 'The run is ending.', { retryable: false }));
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        // what was aborted gets a moment to say so
        setTimeout(() => server.closeAllConnections(), 100).unref();
        server.closeIdleConnections();
      });
      await Promise.all([...new Set(routes.map(({ endpoint }) => endpoint))].map((endpoint) => endpoint.close()));
    },
  };
}

/** Which endpoints are known to take tools, or not to. */
function knownTools({ upstream, fallbacks = [] }: GatewayOptions): DialectTable {
  const known = [upstream, ...fallbacks].flatMap(({ baseURL, tools }) => (tools ? [{ baseURL, tools }] : []));
  return Object.fromEntries(known.map(({ baseURL, tools }) => [endpointKey(baseURL), { tools }]));
}

function totalsOf(ledger: Ledger, spending: Spending): UsageTotals {
  const [total, budget] = [ledger.total, spending.lines()];
  return { ...total, tokens: total.input + total.output, budget, level: budgetLevel(budget), rows: ledger.rows() };
}
