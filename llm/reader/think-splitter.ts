const pairs = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<seed:think>', '</seed:think>'],
  ['<mm:think>', '</mm:think>'],
  ['[THINK]', '[/THINK]'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
] as const;

/** Takes a leading thinking block out of content, as raw servers send it. Holds back only what may still become a tag. */
export class ThinkSplitter {
  #state: 'start' | 'thinking' | 'rest' = 'start';
  #closer = '';
  #held = '';

  /** Content that came; returns what of it is text and what is thinking. */
  push(piece: string): { text: string; thinking: string } {
    if (this.#state === 'rest') return { text: piece, thinking: '' };
    this.#held += piece;
    if (this.#state === 'start' && !this.#open()) return { text: this.#released(), thinking: '' };
    return this.#think();
  }

  /** What was held back when the stream ended. */
  end(): { text: string; thinking: string } {
    const held = this.#held;
    this.#held = '';
    return this.#state === 'thinking' ? { text: '', thinking: held } : { text: held, thinking: '' };
  }

  #open(): boolean {
    const start = this.#held.trimStart();
    const pair = pairs.find(([opener]) => start.startsWith(opener));
    if (pair) {
      this.#state = 'thinking';
      this.#closer = pair[1];
      this.#held = start.slice(pair[0].length);
      return true;
    }
    if (!pairs.some(([opener]) => opener.startsWith(start))) this.#state = 'rest';
    return false;
  }

  #released(): string {
    return this.#state === 'rest' ? this.end().text : '';
  }

  #think(): { text: string; thinking: string } {
    const at = this.#held.indexOf(this.#closer);
    if (at >= 0) {
      const thinking = this.#held.slice(0, at);
      const text = this.#held.slice(at + this.#closer.length).replace(/^\s+/, '');
      this.#state = 'rest';
      this.#held = '';
      return { text, thinking };
    }
    const keep = tailThatMayClose(this.#held, this.#closer);
    const thinking = this.#held.slice(0, this.#held.length - keep);
    this.#held = this.#held.slice(this.#held.length - keep);
    return { text: '', thinking };
  }
}

/** How many characters at the end of `text` may be the beginning of `closer`. */
function tailThatMayClose(text: string, closer: string): number {
  for (let length = Math.min(closer.length - 1, text.length); length > 0; length -= 1) {
    if (closer.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
