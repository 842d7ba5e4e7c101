import { stat } from 'node:fs/promises';
import type { Log } from '../../base/log.ts';
import { cleanBody } from '../upstream/clean-body.ts';
import type { Carrier } from '../upstream/proxy.ts';
import { readCassette } from './cassette-file.ts';
import { CassetteWriter } from './cassette-writer.ts';
import { watchBody } from './exchange-watch.ts';
import { cassetteVersion, type Exchange } from './format.ts';
import { readingOf } from './mask-reply.ts';
import { playedResponse } from './played-response.ts';
import { ReplyMasker } from './reply-masker.ts';
import { type HashedRequest, hashRequest, takeApart } from './request.ts';
import type { Tape, TapedRequest } from './tape.ts';
import { type Sent, WritingTape } from './writing-tape.ts';

interface CacheOptions {
  /** A cassette, made where there is none; compressed when its name ends in `.gz`. */
  readonly path: string;
  readonly program: string;
  /** A reply with one of them is not kept. */
  readonly secrets: readonly string[];
  readonly log: Log;
  /** Told once when nothing more can be kept. */
  onFailure(words: string): void;
}

/**
 * Answers a request that was answered before from a file, whatever run asked it. Only whole replies are kept: none that failed, was
 * cut by its limit, or holds a call that cannot be used. Throws AppError when the file cannot be read or written.
 */
export async function openResponseCache(options: CacheOptions): Promise<Tape> {
  const { path, program, log } = options;
  const known = new Map<string, Exchange>();
  const isThere = await stat(path).then(
    ({ size }) => size > 0,
    () => false,
  );
  if (isThere) for (const one of (await readCassette(path)).exchanges) known.set(one.key, one);
  const writer = await CassetteWriter.open(path, {
    header: { cassette: cassetteVersion, made: new Date().toISOString(), program, names: {} },
    goOn: true,
    onFailure(words) {
      log.error({ path, words }, 'the response cache cannot be written');
      options.onFailure(words);
    },
  });
  return new ResponseCache(writer, new ReplyMasker(options.secrets, log), known);
}

class ResponseCache extends WritingTape {
  readonly #known: Map<string, Exchange>;

  constructor(writer: CassetteWriter, replies: ReplyMasker, known: Map<string, Exchange>) {
    super(writer, replies);
    this.#known = known;
  }

  protected async pass(asked: TapedRequest, [url, init]: Sent, carrier: Carrier, host: string): Promise<Response> {
    const request = hashRequest(takeApart(cleanBody(asked.body, this.masker.mask)));
    const hit = this.#known.get(request.key);
    if (hit) {
      asked.onCached?.();
      return playedResponse(hit, asked.signal);
    }
    const started = performance.now();
    const response = await carrier.fetch(url, init);
    if (response.status !== 200) return response;
    const type = response.headers.get('content-type');
    return watchBody(response, {
      signal: asked.signal,
      msSince: () => Math.round(performance.now() - started),
      onEnd: ({ chunks, end }) => {
        if (end !== 'whole' && end !== 'left') return;
        const headers = type === null ? {} : { 'content-type': type };
        this.replies.mask(chunks, readingOf(asked.body), ({ good, chunks: masked }) => {
          if (good && !masked) this.#keep({ host, headers, chunks, end, status: 200 }, asked, request);
        });
      },
    });
  }

  #keep(
    answer: Pick<Exchange, 'host' | 'headers' | 'chunks' | 'end' | 'status'>,
    { caller: { role, agent, attempt, turn } }: TapedRequest,
    request: HashedRequest,
  ): void {
    if (this.#known.has(request.key)) return;
    const { model, params, parts, tools, key } = request;
    const exchange: Exchange = {
      exchange: this.writer.nextNumber(),
      at: this.age,
      place: { role, agent, task: '', attempt, turn, try: 1 },
      ...{ model, params, parts, ...(tools !== undefined && { tools }), key },
      ...answer,
    };
    this.#known.set(key, exchange);
    this.writer.write(exchange, request);
  }
}
