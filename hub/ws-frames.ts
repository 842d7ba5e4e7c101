/** First byte of a whole, unfragmented text frame. */
const TEXT = 0x81;

/** Payload lengths from which the header carries a length field of 2 and of 8 bytes. */
const LONG = 126;
const LONGER = 65_536;

/** A chunk holds many frames; a larger text has one of its own. */
const SMALLEST_CHUNK = 512;
const LARGEST_CHUNK = 64 * 1024;

/** A body from this size on is not copied, unless it would hold more than so many times its own memory. */
const LARGE_BODY = 16 * 1024;
const MOST_HELD = 5;

/**
 * WebSocket text frames, as a server sends them (RFC 6455: not masked, not fragmented), written one behind the other into
 * few large buffers: one write to the socket takes what would be two writes a frame. A large body stays where it is, between
 * what is said before and after it.
 */
export class FrameBuffer {
  /** Bytes that wait here, headers included. */
  bytes = 0;
  #full: Buffer[] = [];
  #chunk: Buffer | undefined;
  /** What of the chunk was not yet given away. */
  #start = 0;
  #end = 0;
  /** Bytes in chunks: all but the large bodies. */
  #copied = 0;
  /** Size of the next chunk: what was written the last time, so that few bytes of memory are held for many connections. */
  #next = SMALLEST_CHUNK;

  /** Adds a frame of this text. */
  text(text: string): void {
    const chunk = this.#begin(Buffer.byteLength(text));
    this.#end += chunk.write(text, this.#end);
  }

  /**
   * Adds a frame that says `before`, the object `body` without its closing brace, and `after`, which is not empty; both are
   * ASCII. The body is not to be changed any more.
   */
  around(before: string, body: Buffer, after: string): void {
    const inner = body.length - 1;
    const isCopied = inner < LARGE_BODY || body.buffer.byteLength > MOST_HELD * inner;
    const length = before.length + inner + after.length;
    const chunk = this.#begin(length, isCopied ? length : length - inner);
    if (before !== '') this.#end += chunk.write(before, this.#end, 'latin1');
    if (isCopied) {
      // With its brace, which is written over: a part of it would be an object of its own.
      chunk.set(body, this.#end);
      this.#end += inner;
    } else {
      this.#cut(chunk);
      this.#full.push(body.subarray(0, inner));
      this.bytes += inner;
    }
    this.#end += chunk.write(after, this.#end, 'latin1');
  }

  /** Gives what was added, in order, and begins anew. */
  take(): Buffer[] {
    if (this.#chunk !== undefined) this.#cut(this.#chunk);
    const taken = this.#full;
    this.#next = Math.min(LARGEST_CHUNK, Math.max(SMALLEST_CHUNK, this.#copied));
    this.#full = [];
    this.#chunk = undefined;
    this.#start = 0;
    this.#end = 0;
    this.#copied = 0;
    this.bytes = 0;
    return taken;
  }

  /** Makes room for a frame, or for what of it is copied, and writes its header; what follows goes to `#end`. */
  #begin(length: number, copied = length): Buffer {
    const header = length < LONG ? 2 : length < LONGER ? 4 : 10;
    const chunk = this.#room(header + copied);
    this.bytes += header + copied;
    this.#copied += header + copied;
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
    this.#end += header;
    return chunk;
  }

  /** Gives away what was written into the chunk so far. */
  #cut(chunk: Buffer): void {
    if (this.#end > this.#start) this.#full.push(chunk.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }

  #room(size: number): Buffer {
    const chunk = this.#chunk;
    if (chunk !== undefined && this.#end + size <= chunk.length) return chunk;
    if (chunk !== undefined) {
      this.#cut(chunk);
      this.#next = Math.min(LARGEST_CHUNK, 2 * this.#next);
    }
    this.#start = 0;
    this.#end = 0;
    this.#chunk = Buffer.allocUnsafe(Math.max(this.#next, size));
    return this.#chunk;
  }
}
