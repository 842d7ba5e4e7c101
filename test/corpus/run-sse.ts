import { ModelError } from '../../core/model.ts';
import { ReplyReader } from '../../llm/reader/reply-reader.ts';
import type { Reply } from '../../llm/reply.ts';
import type { SseCase } from './corpus-file.ts';
import { norm } from './norm.ts';
import { typesOf } from './types-of.ts';

/** What came of a case, in the form of its expectation. Throws when the reader shows other text than it returns. */
export function runSse(one: SseCase, pieces: readonly Uint8Array[]) {
  const said = { text: '', thinking: '' };
  const reader = new ReplyReader({
    offered: new Set(one.tools),
    types: typesOf(one.schemas),
    onDelta: (delta) => {
      if (delta.kind !== 'alive') said[delta.kind] += delta.text;
    },
  });
  const result = read(reader, pieces);
  const texts = { content: norm(said.text), reasoning: norm(said.thinking) };
  if (!('reply' in result)) {
    return { ...texts, calls: [], finish: null, usage: null, error: result.kind, dropped: reader.lostCalls };
  }
  const { reply } = result;
  if (reply.content !== said.text || reply.reasoning !== said.thinking) {
    throw new Error(`${one.id}: what was shown is not what the reply holds`);
  }
  const sound = reply.calls.filter((call) => call.broken === undefined);
  const wanted = one.expect.calls;
  return {
    ...texts,
    calls: sound.map(({ id, name, input, signature }, at) => ({
      name,
      arguments: input,
      // ids are compared where the case names them; elsewhere any will do that is unique
      ...(wanted[at]?.id === undefined ? {} : { id }),
      ...(signature === undefined ? {} : { thought_signature: signature }),
    })),
    // a broken call is still answered with a tool turn, so that only here the finish says `tool_calls`
    finish: reply.finish === 'tool_calls' && sound.length === 0 ? 'stop' : reply.finish,
    usage: usageOf(reply),
    error: null,
    dropped: sound.length < reply.calls.length || reply.dropped.length > 0,
    ...(new Set(reply.calls.map(({ id }) => id || undefined)).size < reply.calls.length ? { ids: 'not unique' } : {}),
  };
}

/** A case's expectation in the same form. */
export function expectedOf({ expect }: SseCase) {
  const { content, reasoning, error } = expect;
  return { ...expect, content: norm(content), reasoning: norm(reasoning), error: error?.kind ?? null };
}

/** The ways in which a case's bytes are cut: as given, whole, one byte at a time. */
export function piecesOf({ raw, split_at }: SseCase): [how: string, pieces: Uint8Array[]][] {
  const bytes = new TextEncoder().encode(raw);
  return [
    ['whole', [bytes]],
    ['cut as given', cut(bytes, split_at)],
    ['one byte at a time', cut(bytes, [...bytes.keys()].slice(1))],
  ];
}

function read(reader: ReplyReader, pieces: readonly Uint8Array[]): { reply: Reply } | { kind: string } {
  try {
    for (const piece of pieces) reader.push(piece);
    return { reply: reader.end() };
  } catch (error) {
    if (error instanceof ModelError) return { kind: error.kind };
    throw error;
  }
}

function cut(bytes: Uint8Array, borders: readonly number[]): Uint8Array[] {
  return [0, ...borders].map((from, at) => bytes.subarray(from, borders[at] ?? bytes.length));
}

function usageOf({ usage }: Reply) {
  return usage && { prompt_tokens: usage.input, completion_tokens: usage.output, cached_tokens: usage.cached };
}
