import type { Masker } from '../../base/mask.ts';
import type { Reply, ReplyCall } from '../reply.ts';
import { chunk, closingChunks, completion, type ReplyLabel } from '../server/reply-chunks.ts';
import { toWireError } from '../server/wire-error.ts';
import { UpstreamError } from '../upstream/errors.ts';
import { maskPieces } from './mask-pieces.ts';
import type { Said } from './said.ts';

/** A reply written anew without its secrets, in pieces: as one JSON value where `plain`, else event by event. */
export function writtenReply(reply: Reply, label: ReplyLabel, { plain, masker }: { plain: boolean; masker: Masker }) {
  const masked = maskedReply(reply, masker);
  if (plain) return [JSON.stringify(completion(masked, label))];
  const events = [...saying(masked.reasoning, masked.content, label), ...closingChunks(masked, label)];
  return [...events.map(toEvent), 'data: [DONE]\n\n'];
}

/** A body that is no whole reply, written anew without its secrets: what was shown of it, and why it failed. */
export function writtenFailure(
  { error, thinking, text }: Said,
  label: ReplyLabel,
  { plain, masker }: { plain: boolean; masker: Masker },
) {
  // a reader says these itself again
  const isTold = error !== undefined && error.kind !== 'incomplete' && error.kind !== 'empty';
  const told = isTold
    ? [toWireError(new UpstreamError(error.kind, masker.mask(error.message), { retryable: error.retryable })).body]
    : [];
  if (plain) return told.map((body) => JSON.stringify(body));
  const [reasoning, content] = across([masker.mask(thinking), masker.mask(text)], masker);
  return [...saying(reasoning, content, label), ...told].map(toEvent);
}

function saying(reasoning: string, content: string, label: ReplyLabel): object[] {
  return [
    ...(reasoning === '' ? [] : [chunk(label, { reasoning_content: reasoning })]),
    ...(content === '' ? [] : [chunk(label, { content })]),
  ];
}

function toEvent(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function maskedReply(reply: Reply, masker: Masker): Reply {
  const { usage, finish, dropped, calls, ...texts } = reply;
  const [reasoning, content] = across([masker.mask(texts.reasoning), masker.mask(texts.content)], masker);
  return { usage, finish, dropped, reasoning, content, calls: calls.map((call) => maskedCall(call, masker)) };
}

/** A secret may lie over thinking and text. */
function across(texts: readonly [string, string], masker: Masker): [string, string] {
  const [thinking = '', text = ''] = maskPieces(texts, masker) ?? texts;
  return [thinking, text];
}

function maskedCall(call: ReplyCall, masker: Masker): ReplyCall {
  const masked = masker.maskValue(call);
  if (call.broken !== undefined) return { ...masked, raw: maskLoosely(call.raw, masker) };
  return { ...masked, raw: masker.mask(JSON.stringify(masked.input)) };
}

/** JSON that cannot be read may still spell a secret with escapes. */
function maskLoosely(json: string, masker: Masker): string {
  const masked = masker.mask(json);
  const plain = withoutEscapes(masked);
  return masker.find(plain).length > 0 ? masker.mask(plain) : masked;
}

/** JSON, or a part of it, with what is escaped by number or needlessly as it is. */
export function withoutEscapes(json: string): string {
  return json
    .replaceAll(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\/', '/');
}
