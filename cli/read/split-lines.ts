/** A line without its line feed; `ended` is false for a last one that has none. */
export interface Line {
  readonly bytes: Buffer;
  readonly ended: boolean;
}

/** Longest line that is kept in memory, bytes. A frame on the wire has at most 512 KiB. */
const LONGEST = 64 * 1024 * 1024;

/** Cuts a stream into its lines, as bytes, so that a character cut in two is still countable. Throws at a line without end. */
export async function* splitLines(stream: AsyncIterable<Buffer>): AsyncIterable<Line> {
  let rest: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      yield { bytes: Buffer.concat([...rest, chunk.subarray(from, at)]), ended: true };
      rest = [];
      length = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    rest.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > LONGEST) throw new Error(`a line of more than ${LONGEST} bytes`);
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), ended: false };
}
