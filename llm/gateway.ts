import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Model, ModelError } from '../core/model.ts';
import { toChatBody } from './chat-body.ts';
import { type BudgetLevel, budgetLevel } from './money/budget.ts';
import { Ledger, type LedgerRow } from './money/ledger.ts';
import type { GatewayOptions, ModelNames } from './options.ts';
import { toTurn } from './reply.ts';
import { namesOf, openRoutes } from './routes.ts';
import { gatewayListener } from './server/gateway-server.ts';
import { Tokens } from './server/tokens.ts';
import { Dialects, type DialectTable, endpointKey } from './upstream/dialect.ts';
import { ModelCalls } from './upstream/model-calls.ts';
import { defaultRetry } from './upstream/retry.ts';
import { defaultCooldown } from './upstream/route.ts';

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
  /** What was learned of endpoints and their models so far, to be written down. */
  dialects(): DialectTable;
  /** Changes the names that the first upstream is asked for, for calls that begin afterwards. */
  useModels(models: ModelNames): void;
  /** Aborts what runs and stops listening. */
  close(): Promise<void>;
}

/** Starts the one place where a run's model calls pass, on a free loopback port. Throws AppError `misconfigured` on a bad base URL. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { budgetTokens = 3_000_000, keepAliveMs = 5000, log } = options;
  const ledger = new Ledger();
  for (const { event, taskId } of options.earlier ?? []) if (event.type === 'usage.recorded') ledger.add(event, taskId);
  const tokens = new Tokens();
  const closing = new AbortController();
  const routes = openRoutes(options);
  const { tools, upstream } = options;
  const dialects = new Dialects(options.dialects, tools && { [endpointKey(upstream.baseURL)]: { tools } });
  const calls = new ModelCalls({
    ...{ routes, ledger, budgetTokens, dialects },
    retry: { ...defaultRetry, ...options.retry },
    cooldown: { ...defaultCooldown, ...options.cooldown },
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
      ...{ tokens, calls, log, signal: closing.signal, keepAliveMs },
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
    usage: () => totalsOf(ledger, budgetTokens),
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
