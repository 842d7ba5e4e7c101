import { UpstreamError } from '../upstream/errors.ts';

/** One server-sent event. `complete` is false for a last one that no blank line ended. */
export interface SseEvent {
  readonly name: string;
  /** Each `data:` line, without its field name. */
  readonly lines: readonly string[];
  readonly complete: boolean;
}

/** Longest line, in characters: a server that never ends one must not fill the memory. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Turns bytes into events, whatever the chunking: LF, CRLF and CR, comments, a BOM, characters cut by chunks. Linear time. */
export class SseReader {
  /** Whether any line looked like a field; if none did, the body was no event stream. */
  sawField = false;
  /** So many lines of data came, whole events or not. */
  dataLines = 0;
  readonly #decoder = new TextDecoder('utf-8');
  #partial: string[] = [];
  #partialLength = 0;
  #afterCarriageReturn = false;
  #name = '';
  #data: string[] = [];

  push(bytes: Uint8Array): SseEvent[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): SseEvent[] {
    const events = this.#read(this.#decoder.decode());
    if (this.#partial.length > 0) this.#line(this.#takePartial(''), events);
    if (this.#data.length > 0) this.#dispatch(events, false);
    return events;
  }

  #read(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    if (text === '') return events;
    let from = this.#afterCarriageReturn && text.startsWith('\n') ? 1 : 0;
    this.#afterCarriageReturn = text.endsWith('\r');
    const ending = /\r\n|\n|\r/g;
    ending.lastIndex = from;
    for (let match = ending.exec(text); match; match = ending.exec(text)) {
      this.#line(this.#takePartial(text.slice(from, match.index)), events);
      from = ending.lastIndex;
    }
    // pieces of a long line are joined once, when it ends
    if (from < text.length) this.#hold(text.slice(from));
    return events;
  }

  #hold(piece: string): void {
    this.#partial.push(piece);
    this.#partialLength += piece.length;
    if (this.#partialLength > LONGEST_LINE) throw new UpstreamError('bad_event', 'a line of the stream does not end');
  }

  #takePartial(rest: string): string {
    if (this.#partial.length === 0) return rest;
    this.#partialLength = 0;
    this.#partial.push(rest);
    const line = this.#partial.join('');
    this.#partial = [];
    return line;
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === '') {
      this.#dispatch(events, true);
      return;
    }
    if (line.startsWith(':')) return;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      this.dataLines += 1;
      if (value.trim() !== '') this.#data.push(value);
    } else if (field === 'event') {
      this.#name = value;
    } else if (field !== 'id' && field !== 'retry') {
      return;
    }
    this.sawField = true;
  }

  #dispatch(events: SseEvent[], complete: boolean): void {
    if (this.#data.length > 0) events.push({ name: this.#name, lines: this.#data, complete });
    this.#name = '';
    this.#data = [];
  }
}
