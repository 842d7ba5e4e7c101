import type { Reply } from '../reply.ts';
import { fromWireError } from '../server/wire-error.ts';
import { failureIn, firstLine, parseJson, UpstreamError } from '../upstream/errors.ts';
import { type AssemblerOptions, DeltaAssembler } from './delta-assembler.ts';
import { type SseEvent, SseReader } from './sse-reader.ts';

/** How much of a body that is no event stream is kept for the message, in characters. */
const HEAD = 4096;

/** Reads one HTTP body into a {@link Reply}: an event stream with all its quirks, or a plain JSON completion. */
export class ReplyReader {
  readonly #options: AssemblerOptions;
  readonly #assembler: DeltaAssembler;
  readonly #sse = new SseReader();
  readonly #decoder = new TextDecoder();
  #head = '';
  #json: string[] | undefined;
  #unreadable = false;
  #done = false;

  constructor(options: AssemblerOptions) {
    this.#options = options;
    this.#assembler = new DeltaAssembler(options);
  }

  /** True once the stream said `[DONE]`; what follows is ignored. */
  get done(): boolean {
    return this.#done;
  }

  /** Whether the reply looks finished; usage may still follow. */
  get finished(): boolean {
    return this.#assembler.finished;
  }

  /** Takes bytes; returns whether there was data in them, not just a sign of life. Throws on an error event. */
  push(bytes: Uint8Array): boolean {
    return this.#orFail(() => this.#push(bytes));
  }

  /** The body is over. Throws when it holds no whole reply. */
  end(): Reply {
    return this.#orFail(() => this.#end());
  }

  /** Everything received so far, for an estimate of its tokens. */
  received(): string {
    return this.#assembler.received();
  }

  /** Whether the reply failed after calls had come. */
  get lostCalls(): boolean {
    return this.#assembler.lostCalls;
  }

  /** A failed reply still shows the text that came with it. */
  #orFail<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      this.#assembler.fail();
      throw error;
    }
  }

  #push(bytes: Uint8Array): boolean {
    if (this.#done) return false;
    this.#look(bytes);
    if (this.#json) return true;
    const before = this.#sse.dataLines;
    for (const event of this.#sse.push(bytes)) this.#event(event);
    return this.#sse.dataLines > before;
  }

  #end(): Reply {
    if (this.#json) return this.#plain(this.#json.join('') + this.#decoder.decode());
    for (const event of this.#sse.end()) this.#event(event);
    if (!this.#sse.sawField) {
      if (this.#head.trim() === '') throw new UpstreamError('empty', 'the answer has no body');
      const what = /^[\s]*:/.test(this.#head) ? 'holds nothing but comments' : 'is no event stream';
      throw new UpstreamError('not_sse', `the answer ${what}; it begins "${firstLine(this.#head)}"`);
    }
    return this.#assembler.finish(this.#done);
  }

  /** Keeps the body's beginning; one that starts with `{` is a plain JSON body. */
  #look(bytes: Uint8Array): void {
    if (!this.#json && (this.#sse.sawField || this.#head.length >= HEAD)) return;
    const text = this.#decoder.decode(bytes, { stream: true });
    if (this.#json) {
      this.#json.push(text);
      return;
    }
    this.#head += text;
    if (this.#head.trimStart().startsWith('{')) this.#json = [this.#head];
  }

  #plain(body: string): Reply {
    const value = parseJson(body);
    if (value === undefined) throw new UpstreamError('incomplete', 'the JSON answer ended in the middle');
    this.#throwFailure(value, false);
    this.#assembler.add(value);
    return this.#assembler.finish(true);
  }

  #event(event: SseEvent): void {
    if (this.#done) return;
    if (this.#unreadable) throw new UpstreamError('bad_event', 'an event in the stream is no JSON');
    const joined = event.lines.join('\n');
    if (joined.trim() === '[DONE]') {
      this.#done = true;
      return;
    }
    const value = parseJson(joined);
    if (value !== undefined) {
      this.#value(value, event.name);
      return;
    }
    const lines = event.lines.map((line) => (line.trim() === '[DONE]' ? '[DONE]' : parseJson(line)));
    if (lines.length > 1 && lines.every((line) => line !== undefined)) {
      // the gateway forgot its blank lines
      for (const line of lines) {
        if (line === '[DONE]') this.#done = true;
        if (this.#done) return;
        this.#value(line, event.name);
      }
    } else if (event.complete) {
      if (event.name === 'error') this.#throwFailure({ message: joined }, true);
      this.#unreadable = true;
    }
  }

  #value(value: unknown, name: string): void {
    this.#throwFailure(value, name === 'error');
    this.#assembler.add(value);
  }

  #throwFailure(value: unknown, named: boolean): void {
    const failure = (this.#options.ours ? fromWireError(value) : undefined) ?? failureIn(value, named);
    if (failure) throw failure;
  }
}
