/** Cuts streamed thinking into lines and hands each on as soon as it is whole; a very long one in pieces. */
export class ThinkingLines {
  readonly #say: (line: string) => void;
  #open = '';

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  push(text: string): void {
    const lines = (this.#open + text).split('\n');
    this.#open = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
    if (this.#open.length > 1000) this.end();
  }

  /** Hands on what is left without an end of line. */
  end(): void {
    this.#line(this.#open);
    this.#open = '';
  }

  #line(line: string): void {
    if (line.trim() !== '') this.#say(line.trimEnd());
  }
}
