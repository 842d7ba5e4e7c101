import type { Log } from '../../base/log.ts';
import { cleanBody } from '../upstream/clean-body.ts';
import type { Carrier } from '../upstream/proxy.ts';
import { CassetteWriter } from './cassette-writer.ts';
import { watchBody } from './exchange-watch.ts';
import { cassetteVersion, type Exchange, type Setup } from './format.ts';
import { type Reading, readingOf } from './mask-reply.ts';
import { failureOf } from './recorded-failure.ts';
import { ReplyMasker } from './reply-masker.ts';
import { type HashedRequest, hashRequest, takeApart } from './request.ts';
import { type Tape, type TapedRequest, withTaped } from './tape.ts';
import { TaskNames } from './task-names.ts';
import { type Sent, WritingTape } from './writing-tape.ts';

/** Headers of an answer that the gateway reads; no others are kept. */
const kept = /^(content-type|retry-after(-ms)?|x-should-retry|x-ratelimit-reset.*|ratelimit-reset|location)$/;

interface RecorderOptions {
  /** Compressed when its name ends in `.gz`. */
  readonly path: string;
  /** A process of the same run wrote into it before. Default false. */
  readonly goOn?: boolean;
  /** Name and version of the program. */
  readonly program: string;
  /** Texts that have another value in each run, by what they are; `run` is the key that ids of its tasks begin with. */
  readonly names?: Readonly<Record<string, string>>;
  readonly setup?: Setup;
  /** They never get into the file. */
  readonly secrets: readonly string[];
  readonly log: Log;
  /** Told once when nothing more can be written; the run goes on. */
  onFailure(words: string): void;
}

/** Records what models are asked and answer. Throws AppError `usage` when the file holds something already or cannot be written. */
export async function openRecorder(options: RecorderOptions): Promise<Tape> {
  const { path, goOn = false, program, names = {}, setup, secrets, log } = options;
  const header = { cassette: cassetteVersion, made: new Date().toISOString(), program, names } as const;
  const writer = await CassetteWriter.open(path, {
    header: setup ? { ...header, setup } : header,
    goOn,
    onFailure(words) {
      log.error({ path, words }, 'recording failed');
      options.onFailure(words);
    },
  });
  return new Recorder(writer, new ReplyMasker(secrets, log), new TaskNames(names.run));
}

class Recorder extends WritingTape {
  readonly #tasks: TaskNames;
  readonly #tries = new Map<string, number>();

  constructor(writer: CassetteWriter, replies: ReplyMasker, tasks: TaskNames) {
    super(writer, replies);
    this.#tasks = tasks;
  }

  protected async pass(asked: TapedRequest, [url, init]: Sent, carrier: Carrier, host: string): Promise<Response> {
    const { request, exchange } = this.#begin(asked, host);
    const reading = readingOf(asked.body);
    const started = performance.now();
    let cached = false;
    const onCached = () => {
      cached = true;
      asked.onCached?.();
    };
    const end = (more: Pick<Exchange, 'chunks' | 'end'> & Partial<Exchange>) => {
      this.#write({ ...exchange, ...more, ...(cached && { cached }) }, request, reading);
    };
    try {
      const response = await carrier.fetch(url, { ...init, ...withTaped({ ...asked, onCached }) });
      const headers = Object.fromEntries([...response.headers].filter(([name]) => kept.test(name)));
      return watchBody(response, {
        signal: asked.signal,
        msSince: () => Math.round(performance.now() - started),
        onEnd: (body) => end({ status: response.status, headers, ...body }),
      });
    } catch (error) {
      const how = asked.signal.aborted ? 'aborted' : 'cut';
      end({ chunks: [], end: how, failure: failureOf(asked.signal.aborted ? asked.signal.reason : error) });
      throw error;
    }
  }

  #begin({ body, caller }: TapedRequest, host: string) {
    const { role, agent, attempt, turn } = caller;
    const request = hashRequest(takeApart(cleanBody(body, this.masker.mask)));
    const task = this.#tasks.nameOf(role, caller.taskId);
    const place = [role, task, turn].join('\n');
    const number = (this.#tries.get(place) ?? 0) + 1;
    this.#tries.set(place, number);
    const { model, params, parts, tools, key } = request;
    const exchange = {
      exchange: this.writer.nextNumber(),
      at: this.age,
      place: { role, agent, task, attempt, turn, try: number },
      ...{ host, model, params, parts, ...(tools !== undefined && { tools }), key },
      headers: {},
    };
    return { request, exchange };
  }

  #write(exchange: Exchange, request: HashedRequest, reading: Reading): void {
    const { headers, failure } = this.masker.maskValue({ headers: exchange.headers, failure: exchange.failure });
    this.replies.mask(exchange.chunks, reading, ({ chunks }) => {
      this.writer.write(
        { ...exchange, headers, ...(failure && { failure }), ...(chunks && { chunks, rewritten: true }) },
        request,
      );
    });
  }
}
