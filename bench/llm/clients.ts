import OpenAI from 'openai';
import { pino } from 'pino';
import { openGatewayModel, startGateway, takeAttempt } from '../../llm/index.ts';
import { ReplyReader } from '../../llm/reader/reply-reader.ts';
import { openEndpoint } from '../../llm/upstream/endpoint.ts';
import { tool } from './streams.ts';

/** Who reads the replies. */
export const clients = ['sdk', 'client', 'gateway'] as const;
export type ClientName = (typeof clients)[number];

/** Asks for one stream and reads it to its end; returns the characters that it held. */
export type Client = (stream: string) => Promise<number>;

const messages = [{ role: 'user', content: 'go' }] as const;

/** Opens a client of the server at `baseURL`. */
export async function openClient(name: ClientName, baseURL: string): Promise<Client> {
  switch (name) {
    case 'sdk':
      return sdk(baseURL);
    case 'client':
      return ours(baseURL);
    case 'gateway':
      return await throughGateway(baseURL);
    default:
      return name satisfies never;
  }
}

/** The `openai` SDK as people use it: its iterator, text and arguments put together by hand. */
function sdk(baseURL: string): Client {
  const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
  return async (model) => {
    const stream = await client.chat.completions.create({
      ...{ model, stream: true, stream_options: { include_usage: true } },
      ...{ messages: [...messages], tools: [tool] },
    });
    let text = '';
    let input = '';
    for await (const chunk of stream) {
      const delta = chunk.choices[0]?.delta as (OpenAI.ChatCompletionChunk.Choice.Delta & Thinking) | undefined;
      text += delta?.content ?? delta?.reasoning_content ?? '';
      for (const call of delta?.tool_calls ?? []) input += call.function?.arguments ?? '';
    }
    if (input !== '') JSON.parse(input);
    return text.length + input.length;
  };
}

interface Thinking {
  readonly reasoning_content?: string;
}

const patient = { firstByteMs: 60_000, idleMs: 60_000, progressMs: 60_000, replyMs: 600_000, afterFinishMs: 5000 };

/** Our client with all it does: the tolerant reader, the rescue of leaked calls, the watchdog. */
function ours(baseURL: string): Client {
  const endpoint = openEndpoint({ baseURL, apiKey: '', timeouts: patient });
  return async (model) => {
    let shown = 0;
    const reader = new ReplyReader({
      offered: new Set([tool.function.name]),
      onDelta: (delta) => {
        if (delta.kind !== 'alive') shown += delta.text.length;
      },
    });
    const body = {
      model,
      stream: true,
      stream_options: { include_usage: true },
      messages: [...messages],
      tools: [tool],
    };
    const reply = await endpoint.send(body as never, { reader, signal: never });
    return shown + reply.calls.reduce((sum, { raw }) => sum + raw.length, 0);
  };
}

const never = new AbortController().signal;

/** An agent's whole way: over HTTP to the gateway of its run, which asks the server. Both ends are in this process. */
async function throughGateway(baseURL: string): Promise<Client> {
  const gateways = new Map<string, Promise<Client>>();
  return async (stream) => {
    const known = gateways.get(stream) ?? openGatewayFor(baseURL, stream);
    gateways.set(stream, known);
    return await (await known)(stream);
  };
}

async function openGatewayFor(baseURL: string, model: string): Promise<Client> {
  const gateway = await startGateway({
    upstream: { baseURL, apiKey: '' },
    models: { default: model },
    budget: { tokens: Number.MAX_SAFE_INTEGER },
    log: pino({ level: 'silent' }),
    record: () => Promise.resolve(),
  });
  const processToken = gateway.grantProcess({ agent: 'coder-1', role: 'coder' });
  const { url } = gateway;
  const { token } = await takeAttempt({ url, processToken, taskId: 'bench', attempt: 1, signal: never });
  const agent = openGatewayModel({ url, token });
  let turn = 0;
  return async () => {
    const { name, parameters } = tool.function;
    const tools = [{ name, description: '', parameters }];
    const turns = [{ role: 'user', content: 'go' }] as const;
    const reply = await agent.reply({ turns: [...turns], tools, choice: 'default', turn: turn++ }, never);
    return reply.content.length + (reply.reasoning?.length ?? 0) + JSON.stringify(reply.calls).length;
  };
}
