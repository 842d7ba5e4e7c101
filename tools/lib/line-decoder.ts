import { isUtf8 } from 'node:buffer';
import { decodeText } from './encoding.ts';

/** Bytes that may wait for the end of their line; a longer line is handed on in pieces. */
const MAX_PENDING = 256 * 1024;

/** Decodes one stream of output, so that no character is split. Each stream needs its own. */
export interface LineDecoder {
  /** Text of the lines that are complete by now. */
  push(chunk: Buffer): string;
  /** Text of what is left, at the end of the stream. */
  end(): string;
}

/** Makes a decoder that goes line by line: no encoding we read uses a newline's byte inside a character. */
export function lineDecoder(): LineDecoder {
  let pending: Buffer[] = [];
  let size = 0;
  const take = (rest?: Buffer): Buffer => {
    const bytes = Buffer.concat(pending);
    pending = rest?.length ? [rest] : [];
    size = rest?.length ?? 0;
    return bytes;
  };
  return {
    push(chunk) {
      const cut = chunk.lastIndexOf(0x0a) + 1;
      if (cut > 0) {
        pending.push(chunk.subarray(0, cut));
        return decodeLines(take(chunk.subarray(cut)));
      }
      pending.push(chunk);
      size += chunk.length;
      if (size < MAX_PENDING) return '';
      const bytes = Buffer.concat(pending);
      const end = wholeCharacters(bytes);
      take(bytes.subarray(end));
      return decodeLines(bytes.subarray(0, end));
    },
    end: () => decodeLines(take()),
  };
}

/** Decodes whole lines; where they are not all UTF-8, each line by itself. */
export function decodeLines(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline + 1;
    const line = bytes.subarray(start, end);
    const decoded = line.includes(0) ? undefined : decodeText(line);
    text += decoded?.text ?? line.toString('utf8');
    start = end;
  }
  return text;
}

/** Length of the part that ends with a whole UTF-8 character. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return back < needed ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}
