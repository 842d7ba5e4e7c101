/** A server of chat completions that streams replies as fast as they are read. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { answer } from '../answer.ts';
import { eventsOf, streamNamed } from './streams.ts';

/** Bytes that are written at once when a reply comes gathered. */
const GATHERED = 16 * 1024;

/** A reply of one delta this large is asked for as `whole-BYTES`. */
const WHOLE = /^whole-(\d+)$/;

const server = createServer((request, response) => {
  void reply(request, response).catch((error: unknown) => response.destroy(error as Error));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const { model } = JSON.parse(Buffer.concat(parts).toString()) as { model: string };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const size = WHOLE.exec(model)?.[1];
  if (size !== undefined) {
    const delta = { content: 'x'.repeat(Number(size)) };
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: 'stop' }] })}\n\n`);
    response.end('data: [DONE]\n\n');
    return;
  }
  const stream = streamNamed(model);
  if (stream === undefined) throw new Error(`no stream is called ${model}`);
  response.socket?.setNoDelay(true);
  let open = '';
  for (const event of eventsOf(stream.work, stream.deltas)) {
    open += event;
    if (stream.cut === 'gathered' && open.length < GATHERED) continue;
    const taken = response.write(open);
    open = '';
    if (!taken) await once(response, 'drain');
    // so that the next one is a packet of its own
    else if (stream.cut === 'alone') await turn();
  }
  response.end(open);
}

const handlers = { port: () => (server.address() as AddressInfo).port };
export type ServerHandlers = typeof handlers;

answer(handlers, () => {
  server.closeAllConnections();
  server.close();
});
