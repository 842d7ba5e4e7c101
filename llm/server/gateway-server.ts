import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { expose } from '../../base/prometheus.ts';
import { ModelError } from '../../core/model.ts';
import { AgentName, Money, Role, TaskId } from '../../protocol/index.ts';
import { ChatBody, choiceOf } from '../chat-body.ts';
import type { Ledger } from '../money/ledger.ts';
import type { Spending } from '../money/spending.ts';
import { parseJson } from '../upstream/errors.ts';
import type { ModelCalls } from '../upstream/model-calls.ts';
import { modelFamilies } from './metrics.ts';
import type { ModelChoices } from './model-choices.ts';
import { ReplyWriter } from './reply-writer.ts';
import type { Attempt, Tokens } from './tokens.ts';
import { toWireError } from './wire-error.ts';

/** Largest request body, in bytes; pictures travel inside. */
const MAX_BODY = 64 * 1024 * 1024;
const AttemptBody = z.object({
  task_id: TaskId.min(1),
  attempt: z.int().positive(),
  /** The attempt is made by a sub-agent of the process, which pays from a slice of its parent's budget. */
  sub_agent: z
    .object({
      name: AgentName,
      role: Role.optional(),
      slice: z.object({
        tokens: z.int().positive().optional(),
        calls: z.int().positive().optional(),
        money: Money.optional(),
      }),
    })
    .optional(),
});

export interface GatewayServerOptions {
  readonly tokens: Tokens;
  readonly calls: ModelCalls;
  readonly spending: Spending;
  readonly choices: ModelChoices;
  /** What was used so far. */
  readonly ledger: Pick<Ledger, 'rows'>;
  readonly keepAliveMs: number;
  /** Fires when the gateway closes. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The gateway's HTTP side: attempts, chat completions and the model list. Every failure is an OpenAI error body. */
export function gatewayListener(options: GatewayServerOptions): RequestListener {
  const { log } = options;
  return (request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      if (!(error instanceof ModelError)) log.error({ err: error }, 'request failed');
      refuse(
        response,
        error instanceof ModelError ? error : new ModelError('server', messageOf(error), { retryable: false }),
      );
    });
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: GatewayServerOptions,
): Promise<void> {
  const route = `${request.method} ${new URL(request.url ?? '/', 'http://gateway').pathname}`;
  switch (route) {
    case 'POST /npc/attempts':
      return sendJson(response, 201, await grantAttempt(request, options));
    case 'GET /v1/models': {
      attemptOf(request, options.tokens);
      return sendJson(response, 200, { object: 'list', data: options.choices.list() });
    }
    case 'GET /metrics': {
      // numbers alone, and on this machine: whoever looks after it needs no token
      const { text, contentType } = await expose(modelFamilies(options.ledger.rows()));
      response.writeHead(200, { 'content-type': contentType }).end(text);
      return;
    }
    case 'POST /v1/chat/completions':
      return await complete(request, response, options);
    default:
      return sendJson(response, 404, {
        error: { message: `the gateway has no ${route}`, type: 'not_found', code: null },
      });
  }
}

async function grantAttempt(
  request: IncomingMessage,
  { tokens, spending, choices }: GatewayServerOptions,
): Promise<object> {
  const process = tokens.process(bearerOf(request));
  if (!process) throw unknownToken();
  const body = AttemptBody.safeParse(parseJson(await textOf(request)));
  if (!body.success) throw badRequest(z.prettifyError(body.error));
  const { task_id, attempt, sub_agent: sub } = body.data;
  const windows = choices.windows();
  if (!sub) return { token: tokens.grantAttempt(process, task_id, attempt), windows };
  // so that none speaks, or spends, in the name of another
  if (!sub.name.startsWith(`${process.agent}_`)) throw badRequest(`a sub-agent's name begins with ${process.agent}_`);
  const token = tokens.grantAttempt(
    { agent: sub.name, role: sub.role ?? process.role, sliced: true },
    task_id,
    attempt,
  );
  const slice = spending.openSlice(sub.name, sub.slice, process.agent);
  const { tokens: granted, calls, money } = slice;
  return { token, windows, slice: { tokens: granted, calls, money } };
}

async function complete(
  request: IncomingMessage,
  response: ServerResponse,
  options: GatewayServerOptions,
): Promise<void> {
  const attempt = attemptOf(request, options.tokens);
  const parsed = ChatBody.safeParse(parseJson(await textOf(request)));
  if (!parsed.success) throw badRequest(z.prettifyError(parsed.error));
  const body = parsed.data;
  const turn = turnOf(request);
  const gone = new AbortController();
  response.on('close', () => gone.abort(new ModelError('cancelled', 'The caller is gone.', { retryable: false })));
  const signal = AbortSignal.any([gone.signal, attempt.signal, options.signal]);
  const style = { stream: body.stream === true, ours: turn !== undefined, keepAliveMs: options.keepAliveMs };
  const writer = new ReplyWriter(response, { ...style, model: body.model });
  const { role, agent, taskId } = attempt;
  try {
    const reply = await options.calls.reply(
      body,
      choiceOf(body.model),
      { role, agent, taskId, attempt: attempt.attempt, turn, logsThinking: turn !== undefined },
      signal,
      { onDelta: (delta) => writer.delta(delta), onRestart: () => writer.restart() },
    );
    writer.reply(reply);
  } catch (error) {
    if (gone.signal.aborted) writer.drop();
    else if (error instanceof ModelError) writer.error(error);
    else {
      options.log.error({ err: error }, 'model call failed');
      writer.error(new ModelError('server', messageOf(error), { retryable: false, cause: error }));
    }
  }
}

function attemptOf(request: IncomingMessage, tokens: Tokens): Attempt {
  const attempt = tokens.attempt(bearerOf(request));
  if (!attempt) throw unknownToken();
  return attempt;
}

function bearerOf(request: IncomingMessage): string {
  return /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

/** The header by which clients of ours number their turns. */
function turnOf(request: IncomingMessage): number | undefined {
  const value = request.headers['x-npc-turn'];
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY) throw badRequest(`the body is over ${MAX_BODY} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function refuse(response: ServerResponse, error: ModelError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, body } = toWireError(error);
  response.setHeader('x-should-retry', 'false');
  sendJson(response, status, body);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function unknownToken(): ModelError {
  return new ModelError(
    'auth',
    "The run's model gateway does not know this token; use the one that was given to this agent.",
    {
      retryable: false,
    },
  );
}

function badRequest(what: string): ModelError {
  return new ModelError('bad_request', `The request is no chat completion: ${what}`, { retryable: false });
}
