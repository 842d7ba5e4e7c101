import type { ServerResponse } from 'node:http';
import { v4 as uuid } from 'uuid';
import type { ModelDelta, ModelError } from '../../core/model.ts';
import type { Reply } from '../reply.ts';
import { chunk, closingChunks, completion, type ReplyLabel, restartChunk, withoutUnusable } from './reply-chunks.ts';
import { toWireError } from './wire-error.ts';

/** How a client wants its answer. */
export interface ReplyStyle {
  readonly stream: boolean;
  /** A client of ours: it understands restarts, so deltas go out as they come. Others get a reply that cannot change any more. */
  readonly ours: boolean;
  /** How often a waiting client hears something, and how long headers are held back for an error's status. ms. */
  readonly keepAliveMs: number;
  /** The model's name as the client asked for it. */
  readonly model: string;
}

/** Writes one reply, or its error, to an HTTP response in OpenAI's form. */
export class ReplyWriter {
  readonly #response: ServerResponse;
  readonly #style: ReplyStyle;
  readonly #label: ReplyLabel;
  readonly #timer: NodeJS.Timeout;
  #shown = false;

  constructor(response: ServerResponse, style: ReplyStyle) {
    this.#response = response;
    this.#style = style;
    this.#label = { id: `chatcmpl-${uuid()}`, model: style.model, created: Math.floor(Date.now() / 1000) };
    this.#timer = setInterval(() => this.#keepAlive(), style.keepAliveMs);
  }

  delta(delta: ModelDelta): void {
    if (!this.#style.ours || !this.#style.stream || delta.kind === 'alive') return;
    this.#begin();
    this.#shown = true;
    this.#chunk(
      chunk(this.#label, delta.kind === 'text' ? { content: delta.text } : { reasoning_content: delta.text }),
    );
  }

  restart(): void {
    if (this.#shown) this.#chunk(restartChunk(this.#label));
    this.#shown = false;
  }

  reply(whole: Reply): void {
    clearInterval(this.#timer);
    const reply = this.#style.ours ? whole : withoutUnusable(whole);
    if (!this.#style.stream) {
      this.#json(200, completion(reply, this.#label));
      return;
    }
    this.#begin();
    if (!this.#style.ours) {
      if (reply.reasoning !== '') this.#chunk(chunk(this.#label, { reasoning_content: reply.reasoning }));
      this.#chunk(chunk(this.#label, { role: 'assistant', content: reply.content }));
    }
    for (const part of closingChunks(reply, this.#label)) this.#chunk(part);
    this.#response.end('data: [DONE]\n\n');
  }

  error(error: ModelError): void {
    clearInterval(this.#timer);
    const { status, body } = toWireError(error);
    if (!this.#response.headersSent) {
      // it was tried often enough here
      this.#response.setHeader('x-should-retry', 'false');
      this.#json(status, body);
      return;
    }
    this.#response.end(`data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`);
  }

  /** The client is gone. */
  drop(): void {
    clearInterval(this.#timer);
    this.#response.destroy();
  }

  #json(status: number, body: object): void {
    this.#response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #begin(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  }

  /** A comment and an empty delta: clients count one or the other as life. A plain JSON answer waits for its status. */
  #keepAlive(): void {
    if (!this.#style.stream) return;
    this.#begin();
    this.#response.write(': alive\n\n');
    if (!this.#style.ours) this.#chunk(chunk(this.#label, {}));
  }

  #chunk(value: object): void {
    this.#response.write(`data: ${JSON.stringify(value)}\n\n`);
  }
}
