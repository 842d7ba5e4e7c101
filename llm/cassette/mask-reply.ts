import type { Masker } from '../../base/mask.ts';
import { type ChatBody, offeredBy, typesBy } from '../chat-body.ts';
import type { AssemblerOptions } from '../reader/delta-assembler.ts';
import type { ReplyLabel } from '../server/reply-chunks.ts';
import { plainIn, textsIn } from './body-texts.ts';
import type { Exchange } from './format.ts';
import { maskPieces } from './mask-pieces.ts';
import { withoutEscapes, writtenFailure, writtenReply } from './masked-bodies.ts';
import { type Said, saidIn } from './said.ts';

type Chunks = Exchange['chunks'];

/** What decides how a reply is read. */
export interface Reading extends Pick<AssemblerOptions, 'offered' | 'types'> {
  /** The name under which the model was asked. */
  readonly model: string;
}

/** How the reply to a request is read. */
export function readingOf(body: ChatBody): Reading {
  return { offered: offeredBy(body), types: typesBy(body), model: body.model };
}

/** A reply as a file may keep it. */
export interface KeptReply {
  /** Without secrets; absent when it has none. */
  readonly chunks?: Chunks;
  /** Whether it is whole, and worth giving again: not cut by its limit, and without calls that cannot be used. */
  readonly good: boolean;
}

/**
 * Takes the secrets out of a reply: those in its bytes, and those that only the reader puts together. Its chunks stay where that is
 * enough; else it is written anew from what the reader understood. Each try is read again, and what cannot be made clean is left out.
 */
export function maskReply(chunks: Chunks, reading: Reading, masker: Masker): KeptReply {
  try {
    return kept(chunks, reading, masker);
  } catch {
    // what cannot be looked through must not be kept
    return { chunks: [], good: false };
  }
}

function kept(chunks: Chunks, reading: Reading, masker: Masker): KeptReply {
  const pieces = chunks.map(([, text]) => text);
  const body = pieces.join('');
  const isSecret = memo((text) => masker.find(text).length > 0);
  const said = saidIn(body, reading);
  const { reply } = said;
  const good = reply !== undefined && reply.finish !== 'length' && reply.dropped.length === 0;
  if (!holds(body, said, reading, isSecret)) return { good };
  const isClean = (tried: readonly string[]) => {
    const text = tried.join('');
    if (isSecret(text)) return false;
    const again = saidIn(text, reading);
    return (again.reply !== undefined) === (reply !== undefined) && !holds(text, again, reading, isSecret);
  };
  const inPlace = maskPieces(pieces, masker);
  if (inPlace && isClean(inPlace)) {
    return { good, chunks: chunks.map(([ms], at): Chunks[number] => [ms, inPlace[at] ?? '']) };
  }
  for (const written of anew(body, said, reading, masker)) {
    if (isClean(written)) return { good, chunks: inTime(written, chunks) };
  }
  return { good: false, chunks: [] };
}

/** The body written anew: the nearer to what came, the earlier. */
function* anew(body: string, said: Said, reading: Reading, masker: Masker): Iterable<string[]> {
  const value = plainIn(body);
  const how = { plain: value !== undefined, masker };
  const label = labelOf(reading, masker);
  if (how.plain) yield [JSON.stringify(masker.maskValue(value))];
  for (const one of [asTextIn(body, reading), said]) {
    yield one.reply ? writtenReply(one.reply, label, how) : writtenFailure(one, label, how);
  }
}

function labelOf({ model }: Reading, masker: Masker): ReplyLabel {
  return { id: 'chatcmpl-masked', model: masker.mask(model), created: 0 };
}

function inTime(written: readonly string[], chunks: Chunks): Chunks {
  const [first, last] = [chunks[0]?.[0] ?? 0, chunks.at(-1)?.[0] ?? 0];
  return written.map((text, at): Chunks[number] => [at === 0 ? first : last, text]);
}

/** Whether a secret is in a body, as it is or put together. */
function holds(body: string, said: Said, reading: Reading, isSecret: (text: string) => boolean): boolean {
  if (isSecret(body) || [...stringsOf(said)].some(isSecret)) return true;
  if ([...stringsOf(asTextIn(body, reading))].some(isSecret)) return true;
  const texts = textsIn(body);
  if (joined(texts, ({ path }) => path).some(isSecret)) return true;
  return said.reply === undefined && [...joined(texts, ({ key }) => key), ...joined(texts, () => '')].some(isSecret);
}

/** What a body says to one who leaves calls and thinking in the text where they are. */
function asTextIn(body: string, reading: Reading): Said {
  return saidIn(body, { ...reading, ours: true });
}

function joined<T extends { text: string }>(texts: readonly T[], by: (one: T) => string): string[] {
  const lists = new Map<string, string[]>();
  for (const one of texts) {
    const list = lists.get(by(one));
    if (list) list.push(one.text);
    else lists.set(by(one), [one.text]);
  }
  return [...lists.values()].map((list) => list.join(''));
}

function* stringsOf({ reply, error, thinking, text, received }: Said): Iterable<string> {
  yield* [thinking, text, received, withoutEscapes(received), error?.message ?? ''];
  yield* stringsIn(reply);
  for (const { raw } of reply?.calls ?? []) yield withoutEscapes(raw);
}

function* stringsIn(value: unknown): Iterable<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    if (!Array.isArray(value)) yield key;
    yield* stringsIn(one);
  }
}

/** Most texts come several times, in what was shown and in what it became. */
function memo(ask: (text: string) => boolean): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const now = ask(text);
    known.set(text, now);
    return now;
  };
}
