import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { silentLog } from '../../base/log.ts';
import type { ModelRequest } from '../../core/model.ts';
import { type GatewayOptions, startGateway } from '../../llm/index.ts';
import { asking } from './gateway-bench.ts';

/** A bare HTTP server in a provider's place, which tells which headers and bodies it got. */
export async function upstream(answer: RequestListener, host = '127.0.0.1') {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://${host}:${(server.address() as AddressInfo).port}/v1` };
}

/** What a model server got: the body of a chat request. */
export interface Asked {
  readonly model: string;
  readonly messages: { readonly role: string; readonly content: unknown }[];
  readonly [field: string]: unknown;
}

/** A provider that answers by the body of each request; `asked` are those so far. */
export async function provider(answer: (body: Asked, response: ServerResponse, number: number) => void) {
  const asked: Asked[] = [];
  const { seen, url } = await upstream((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body: Asked = JSON.parse(Buffer.concat(parts).toString());
      answer(body, response, asked.push(body));
    });
  });
  return { asked, seen, url };
}

/** Answers with one word. */
export function say(response: ServerResponse, content: string): void {
  response.end(JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }] }));
}

/** Answers with an error. */
export function refuse(response: ServerResponse, status: number, message: string, headers: object = {}): void {
  response.writeHead(status, { ...headers }).end(JSON.stringify({ error: { message } }));
}

export const hello: RequestListener = (_, response) => say(response, 'hello');

type Over = Partial<GatewayOptions> & Pick<GatewayOptions, 'upstream'>;

/** A gateway in front of something that is no model server of ours, closed when the test ends. */
export async function gatewayOver(options: Over) {
  const gateway = await startGateway({
    models: { default: 'big' },
    retry: { attempts: 1 },
    log: silentLog(),
    record: async () => {},
    ...options,
  });
  onTestFinished(() => gateway.close());
  const model = gateway.modelFor({ role: 'coder', agent: 'coder-1', taskId: 'run.code' });
  const signal = new AbortController().signal;
  return { gateway, model, ask: (more: Partial<ModelRequest> = {}) => model.reply(asking(0, more), signal) };
}

/** The same, only to be asked. */
export async function modelOver(options: Over) {
  return (await gatewayOver(options)).ask;
}
