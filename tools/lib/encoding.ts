import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { AppError } from '../../base/errors.ts';

/** The encodings a text file may have. GBK and GB2312 are parts of gb18030. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'gb18030' | 'latin1';

/** A file's bytes as text. */
export interface DecodedText {
  /** Without the byte order mark. */
  readonly text: string;
  readonly encoding: Encoding;
  /** Whether the bytes begin with a byte order mark. */
  readonly bom: boolean;
  /** Whether encoding the text again gives the same bytes; without that, only whole files can be written. */
  readonly clean: boolean;
}

const MARKS: readonly (readonly [Encoding, Buffer])[] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/** Tells a text's encoding from all of its bytes and decodes it; undefined when it is no text. */
export function decodeText(bytes: Buffer): DecodedText | undefined {
  for (const [encoding, mark] of MARKS) {
    if (!bytes.subarray(0, mark.length).equals(mark)) continue;
    const decoded = decodeAs(encoding, bytes.subarray(mark.length), true);
    return decoded.clean || encoding === 'utf-8' ? decoded : undefined;
  }
  if (bytes.includes(0)) {
    const encoding = wideWithoutMark(bytes);
    const wide = encoding && decodeAs(encoding, bytes, false);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell numbers from letters
    return wide?.clean && !/[\0-\x07\x0e-\x1a]/.test(wide.text) ? wide : undefined;
  }
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), encoding: 'utf-8', bom: false, clean: true };
  if (controlShare(bytes) > 0.02) return undefined;
  if (isMostlyUtf8(bytes)) return decodeAs('utf-8', bytes, false);
  if (looksChinese(bytes)) return decodeAs('gb18030', bytes, false);
  return highShare(bytes) < 0.3 ? decodeAs('latin1', bytes, false) : undefined;
}

/** Bytes of a text. Throws `refused` when the encoding has no such character. */
export function encodeText(text: string, encoding: Encoding, bom = false): Buffer {
  const body = iconv.encode(text, encoding);
  if (encoding === 'latin1' && iconv.decode(body, encoding) !== text) {
    throw new AppError('refused', 'the file is latin1, which has no character for part of the new text');
  }
  const mark = bom ? MARKS.find(([name]) => name === encoding)?.[1] : undefined;
  return mark ? Buffer.concat([mark, body]) : body;
}

function decodeAs(encoding: Encoding, bytes: Buffer, bom: boolean): DecodedText {
  const text = iconv.decode(bytes, encoding, { stripBOM: false });
  return { text, encoding, bom, clean: iconv.encode(text, encoding).equals(bytes) };
}

/** UTF-16 without a mark shows as NUL bytes at every second place, where the text has ASCII characters. */
function wideWithoutMark(bytes: Buffer): Encoding | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  let even = 0;
  let odd = 0;
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] === 0) at % 2 === 0 ? even++ : odd++;
  const half = bytes.length / 2;
  if (odd / half > 0.3 && even === 0) return 'utf-16le';
  return even / half > 0.3 && odd === 0 ? 'utf-16be' : undefined;
}

function controlShare(bytes: Buffer): number {
  let controls = 0;
  // Tab to carriage return, and escape, are what texts and terminals use.
  for (const byte of bytes) if (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) controls += 1;
  return controls / bytes.length;
}

function highShare(bytes: Buffer): number {
  let high = 0;
  for (const byte of bytes) if (byte >= 0x80) high += 1;
  return high / bytes.length;
}

function isMostlyUtf8(bytes: Buffer): boolean {
  let good = 0;
  let bad = 0;
  for (const character of bytes.toString('utf8')) {
    if (character === '\uFFFD') bad += 1;
    else if (character > '\x7f') good += 1;
  }
  return good > bad * 4;
}

/** Chinese text lies almost wholly in GB2312, where both bytes of a character are high; in latin1 words they seldom are. */
function looksChinese(bytes: Buffer): boolean {
  let common = 0;
  let rare = 0;
  let broken = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) continue;
    const trail = bytes[at + 1] ?? 0;
    if (trail >= 0x30 && trail <= 0x39 && (bytes[at + 2] ?? 0) >= 0x81) at += 3;
    else if (trail < 0x40 || trail === 0x7f || trail === 0xff || lead === 0x80 || lead === 0xff) {
      broken += 1;
    } else {
      if (lead >= 0xa1 && lead <= 0xf7 && trail >= 0xa1) common += 1;
      else rare += 1;
      at += 1;
    }
  }
  return common > (rare + broken) * 2.5;
}
