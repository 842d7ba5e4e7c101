/** Tells, as JSON comes in pieces, whether what came so far could be a whole object or text. Linear, where parsing each time is not. */
export class JsonBalance {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #seen = false;

  /** Whether all that was opened is closed, and something was. */
  get whole(): boolean {
    return this.#seen && this.#depth === 0 && !this.#inString;
  }

  push(piece: string): void {
    for (const character of piece) {
      if (this.#escaped) this.#escaped = false;
      else if (character === '"') this.#inString = !this.#inString;
      else if (this.#inString) this.#escaped = character === '\\';
      else if (character === '{') this.#depth += 1;
      else if (character === '}') this.#depth -= 1;
      else continue;
      this.#seen = true;
    }
  }
}
