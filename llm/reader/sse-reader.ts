/** One server-sent event. `complete` is false for a last one that no blank line ended. */
export interface SseEvent {
  readonly name: string;
  /** Each `data:` line, without its field name. */
  readonly lines: readonly string[];
  readonly complete: boolean;
}

/** Turns bytes into events, whatever the chunking: LF, CRLF and CR, comments, a BOM, characters cut by chunks. Linear time. */
export class SseReader {
  /** Whether any line looked like a field or a comment; if none did, the body was no event stream. */
  sawField = false;
  readonly #decoder = new TextDecoder('utf-8');
  #partial: string[] = [];
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
    if (from < text.length) this.#partial.push(text.slice(from));
    return events;
  }

  #takePartial(rest: string): string {
    if (this.#partial.length === 0) return rest;
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
    if (line.startsWith(':')) {
      this.sawField = true;
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') {
      if (value !== '') this.#data.push(value);
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
