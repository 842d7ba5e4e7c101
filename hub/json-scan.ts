/** What parsing does not tell of a JSON text. */
export interface JsonScan {
  /** Deepest nesting of objects and arrays. */
  readonly depth: number;
  /** Keys at the top level, a repeated one as often as it stands there. */
  readonly keys: number;
  /** A key at the top level, or a text there other than the payload, is spelled with an escape. */
  readonly escaped: boolean;
  /** A key may be `__proto__`: it is, or it hides behind an escape. */
  readonly suspicious: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const UNDERSCORE = 0x5f;

/** Runs once over a text that is known to be JSON. It jumps from quote to quote, so that long texts in it cost little. */
export function scanJson(text: string): JsonScan {
  let depth = 0;
  let deepest = 0;
  let keys = 0;
  let escaped = false;
  let isPayload = false;
  let suspicious = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const start = at + 1;
      at = endOfString(text, start);
      if (!isKey(text, at + 1)) {
        if (depth === 1 && !isPayload) escaped ||= hasBackslash(text, start, at);
        continue;
      }
      const escapedKey = hasBackslash(text, start, at);
      if (depth === 1) {
        keys += 1;
        escaped ||= escapedKey;
        isPayload = text.startsWith('payload"', start);
      }
      suspicious ||= escapedKey || (text.charCodeAt(start) === UNDERSCORE && text.startsWith('__proto__"', start));
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return { depth: deepest, keys, escaped, suspicious };
}

/** Where the quote is that ends the string whose text begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (text.charCodeAt(end - 1) === BACKSLASH && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** Whether an odd number of backslashes stands before `end`. */
function isEscaped(text: string, start: number, end: number): boolean {
  let first = end;
  while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (end - first) % 2 === 1;
}

/** In JSON a string is a key exactly when a colon follows. */
function isKey(text: string, behind: number): boolean {
  let at = behind;
  while (text.charCodeAt(at) <= SPACE) at += 1;
  return text.charCodeAt(at) === COLON;
}

function hasBackslash(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (text.charCodeAt(at) === BACKSLASH) return true;
  return false;
}
