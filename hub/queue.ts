/** A list that is taken from at its head without moving the rest, which `Array.shift` does once it is long. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** The first one; undefined when there is none. */
  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head === this.#items.length) return undefined;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#items.length) this.clear();
    else if (this.#head >= 1024 && 2 * this.#head >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    // A new list, since an emptied one keeps the memory of its longest time.
    if (this.#items.length > 1024) this.#items = [];
    else this.#items.length = 0;
    this.#head = 0;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let at = this.#head; at < this.#items.length; at += 1) yield this.#items[at] as T;
  }
}
