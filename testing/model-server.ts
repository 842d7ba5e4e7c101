import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { AppError, messageOf } from '../base/errors.ts';
import type { Cassette } from '../llm/cassette/cassette-file.ts';
import { takeApart } from '../llm/cassette/request.ts';
import { Shelf } from '../llm/cassette/shelf.ts';
import { FaultPlan, type FaultSwitch } from './fault-plan.ts';
import { sendError, sendJson } from './json-answers.ts';
import { playExchange } from './play-exchange.ts';
import { playStep, usageOf } from './play-step.ts';
import { Fault, parseScript, type Script, type ScriptSource, type Step, stepOf } from './script.ts';
import { withFault } from './script-events.ts';

/** One request as the server saw it. */
interface RecordedRequest {
  readonly role: string;
  readonly step: number;
  /** ms since epoch. */
  readonly at: number;
  readonly model: string;
  readonly stream: boolean;
  /** `aborted` = the client went away first. */
  outcome: 'playing' | 'played' | 'aborted' | 'unscripted' | Fault['type'];
  readonly body: ChatRequest;
}

export interface ModelServerOptions {
  /** What is answered, by role and step. Default: nothing, which leaves the cassette. */
  readonly script?: ScriptSource;
  /** A recording that answers instead. */
  readonly cassette?: Cassette;
  /** Whether it comes as slowly as it was recorded. Default false. */
  readonly pace?: boolean;
  /** 0 = a free one. Default 0. */
  readonly port?: number;
  readonly faults?: readonly FaultSwitch[];
}

/** A running model server. */
export interface ModelServer {
  /** Base URL for an OpenAI client: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  /** Every chat request so far, oldest first; also at `GET /requests`. */
  readonly requests: readonly RecordedRequest[];
  /** Replaces the faults switched on; also `POST /faults`. */
  setFaults(faults: readonly FaultSwitch[]): void;
  close(): Promise<void>;
}

const ChatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
});
type ChatRequest = z.infer<typeof ChatRequest>;

const Faults = z.array(
  z.strictObject({ role: z.string().optional(), step: z.int().nonnegative().optional(), fault: Fault }),
);

/** Starts a server of chat completions that plays a script over real HTTP. Throws AppError `port_in_use` or `misconfigured`. */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const script = parseScript(options.script ?? {});
  const faults = new FaultPlan();
  faults.set(options.faults ?? []);
  const player = new Player(script, faults, options);
  const server = createServer((request, response) => {
    route(request, response, player, faults).catch((error: unknown) => {
      if (!response.headersSent) sendError(response, 500, messageOf(error), 'server_error');
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, options.port ?? 0)));
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: player.requests,
    setFaults: (switches) => faults.set(switches),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  player: Player,
  faults: FaultPlan,
): Promise<void> {
  const address = `${request.method} ${new URL(request.url ?? '/', 'http://model').pathname}`;
  switch (address) {
    case 'POST /v1/chat/completions':
      return await player.answer(request, response, await bodyOf(request));
    case 'GET /v1/models':
      return sendJson(response, 200, { object: 'list', data: [{ id: 'scripted', object: 'model' }] });
    case 'GET /requests':
      return sendJson(response, 200, player.requests);
    case 'POST /faults': {
      const parsed = Faults.safeParse(await bodyOf(request));
      if (!parsed.success) return sendError(response, 400, z.prettifyError(parsed.error), 'invalid_request_error');
      faults.set(parsed.data);
      return sendJson(response, 200, { faults: parsed.data.length });
    }
    default:
      return sendError(response, 404, `the model server has no ${address}`, 'not_found');
  }
}

/** Answers chat requests from the script, and remembers them. */
class Player {
  readonly requests: RecordedRequest[] = [];
  readonly #script: Script;
  readonly #faults: FaultPlan;
  readonly #shelf: Shelf | undefined;
  readonly #pace: boolean;
  #unnumbered = 0;

  constructor(script: Script, faults: FaultPlan, { cassette, pace = false }: ModelServerOptions) {
    this.#script = script;
    this.#faults = faults;
    this.#shelf = cassette && new Shelf(cassette, {});
    this.#pace = pace;
  }

  async answer(request: IncomingMessage, response: ServerResponse, json: unknown): Promise<void> {
    const parsed = ChatRequest.safeParse(json);
    if (!parsed.success) return sendError(response, 400, z.prettifyError(parsed.error), 'invalid_request_error');
    const body = parsed.data;
    const { role, step: index } = this.#placeOf(request);
    const { model, stream } = { model: body.model, stream: body.stream === true };
    const record: RecordedRequest = { role, step: index, at: Date.now(), model, stream, outcome: 'playing', body };
    this.requests.push(record);
    if (this.#shelf) return await this.#replay(this.#shelf, request, response, record);
    const found = stepOf(this.#script, role, index);
    const scripted = 'missing' in found ? undefined : found;
    const fault = this.#faults.next(role, index, scripted);
    if (!scripted && !fault) {
      record.outcome = 'unscripted';
      return sendError(response, 400, 'missing' in found ? found.missing : '', 'unscripted_step');
    }
    const step = withFault(scripted ?? emptyStep, fault);
    const label = { id: `${role}-${index}`, model, created: Math.floor(record.at / 1000) };
    const usage = body.stream_options?.include_usage || !stream ? usageOf(step, JSON.stringify(body.messages)) : null;
    const play = { step, fault, stream, frame: { label, usage } };
    response.on('close', () => {
      if (record.outcome === 'playing') record.outcome = response.writableFinished ? 'played' : 'aborted';
    });
    if (fault) record.outcome = fault.type;
    if (!('x-npc-step' in request.headers) && givesReply(fault)) this.#unnumbered += 1;
    await playStep(response, play);
  }

  async #replay(
    shelf: Shelf,
    { headers: { 'x-npc-role': role } }: IncomingMessage,
    response: ServerResponse,
    record: RecordedRequest,
  ): Promise<void> {
    const found = shelf.takeNext(takeApart(record.body), typeof role === 'string' ? role : undefined);
    if (!found) {
      record.outcome = 'unscripted';
      const what = `the cassette has no reply left for the role "${record.role}" (step ${record.step} was asked for)`;
      return sendError(
        response,
        400,
        `${what}; it has ${shelf.size} in all, ${shelf.left} are left`,
        'unscripted_step',
      );
    }
    response.on('close', () => {
      record.outcome = response.writableFinished || found.end !== 'whole' ? 'played' : 'aborted';
    });
    await playExchange(response, found, this.#pace);
  }

  /** By the gateway's headers; without them the role is `default` and its replies are counted here. */
  #placeOf(request: IncomingMessage): { role: string; step: number } {
    const { 'x-npc-role': role, 'x-npc-step': step } = request.headers;
    if (typeof role === 'string' && typeof step === 'string') return { role, step: Number(step) };
    return { role: 'default', step: this.#unnumbered };
  }
}

/** Whether a client gets a whole reply all the same, so that it will not ask for the step again. */
function givesReply(fault: Fault | undefined): boolean {
  return fault === undefined || stillWhole.has(fault.type) || (fault.type === 'gzip' && !fault.cut);
}

const stillWhole = new Set<Fault['type']>([
  ...(['empty', 'error_text', 'cut_arguments', 'drip', 'huge_line', 'big_reply', 'content_type'] as const),
]);

const emptyStep: Step = { text: '', thinking: '', calls: [], delay_ms: 0, pace_ms: 0 };

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    return undefined;
  }
}

function listenError(error: NodeJS.ErrnoException, port: number): unknown {
  if (error.code !== 'EADDRINUSE') return error;
  return new AppError('port_in_use', `port ${port} is in use; choose another with --port, or 0 for a free one`);
}
