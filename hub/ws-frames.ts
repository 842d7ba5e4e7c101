/** First byte of a whole, unfragmented text frame. */
const TEXT = 0x81;

/** Payload lengths from which the header carries a length field of 2 and of 8 bytes. */
const LONG = 126;
const LONGER = 65_536;

/** A chunk holds many frames; larger frames have one of their own. */
const SMALLEST_CHUNK = 512;
const LARGEST_CHUNK = 64 * 1024;

/**
 * WebSocket text frames, as a server sends them (RFC 6455: not masked, not fragmented), written one behind the other into
 * few large buffers: one write to the socket takes what would be two writes a frame.
 */
export class FrameBuffer {
  /** Bytes that wait here, headers included. */
  bytes = 0;
  #full: Buffer[] = [];
  #chunk: Buffer | undefined;
  #end = 0;
  /** Size of the next chunk: what was written the last time, so that few bytes of memory are held for many connections. */
  #next = SMALLEST_CHUNK;

  /** Adds a frame of this text. */
  text(text: string): void {
    const chunk = this.#begin(Buffer.byteLength(text));
    this.#end += chunk.write(text, this.#end);
  }

  /** Adds a frame that says `before`, the object `body` without its closing brace, and `after`, which is not empty; both are ASCII. */
  around(before: string, body: Buffer, after: string): void {
    const inner = body.length - 1;
    const chunk = this.#begin(before.length + inner + after.length);
    if (before !== '') this.#end += chunk.write(before, this.#end, 'latin1');
    // With its brace, which is written over: a part of it would be an object of its own.
    chunk.set(body, this.#end);
    this.#end += inner;
    this.#end += chunk.write(after, this.#end, 'latin1');
  }

  /** Gives what was added, in order, and begins anew. */
  take(): Buffer[] {
    const taken = this.#full;
    if (this.#chunk !== undefined) taken.push(this.#chunk.subarray(0, this.#end));
    this.#next = Math.min(LARGEST_CHUNK, Math.max(SMALLEST_CHUNK, this.bytes));
    this.#full = [];
    this.#chunk = undefined;
    this.#end = 0;
    this.bytes = 0;
    return taken;
  }

  /** Makes room for a frame and writes its header; what follows goes to `#end`. */
  #begin(length: number): Buffer {
    const size = length + (length < LONG ? 2 : length < LONGER ? 4 : 10);
    const chunk = this.#room(size);
    this.bytes += size;
    chunk[this.#end] = TEXT;
    if (length < LONG) chunk[this.#end + 1] = length;
    else if (length < LONGER) {
      chunk[this.#end + 1] = 126;
      chunk[this.#end + 2] = length >> 8;
      chunk[this.#end + 3] = length & 0xff;
    } else {
      chunk[this.#end + 1] = 127;
      chunk.writeUIntBE(0, this.#end + 2, 2);
      chunk.writeUIntBE(length, this.#end + 4, 6);
    }
    this.#end += size - length;
    return chunk;
  }

  #room(size: number): Buffer {
    const chunk = this.#chunk;
    if (chunk !== undefined && this.#end + size <= chunk.length) return chunk;
    if (chunk !== undefined) {
      this.#full.push(chunk.subarray(0, this.#end));
      this.#next = Math.min(LARGEST_CHUNK, 2 * this.#next);
    }
    this.#end = 0;
    this.#chunk = Buffer.allocUnsafe(Math.max(this.#next, size));
    return this.#chunk;
  }
}
