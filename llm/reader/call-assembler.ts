import { v4 as uuid } from 'uuid';
import type { FinishReason } from '../../protocol/index.ts';
import type { ReplyCall } from '../reply.ts';
import { isObject, parseJson } from '../upstream/errors.ts';
import { JsonBalance } from './json-balance.ts';

interface Slot {
  id: string;
  name: string;
  readonly fragments: string[];
  readonly balance: JsonBalance;
  signature?: string;
  /** What a gateway of ours says of the call beside it. */
  marks?: CallMarks;
}

type CallMarks = Partial<Pick<ReplyCall, 'origin' | 'broken' | 'refused'>>;

export interface CallAssemblerOptions {
  /** Names of the tools that the request offered. */
  readonly offered: ReadonlySet<string>;
  /** The other side is a gateway of ours: what it says of a call counts. */
  readonly ours?: boolean;
}

/** Puts tool calls together from deltas, whatever a gateway does with index, id, name and arguments. Order = first appearance. */
export class CallAssembler {
  readonly #slots: Slot[] = [];
  readonly #byIndex = new Map<number, Slot>();
  readonly #options: CallAssemblerOptions;
  #last: Slot | undefined;

  constructor(options: CallAssemblerOptions) {
    this.#options = options;
  }

  /** Takes one entry of `tool_calls`. */
  add(delta: unknown): void {
    if (!isObject(delta)) return;
    const part = isObject(delta.function) ? delta.function : {};
    const id = text(delta.id);
    const name = text(part.name);
    const index = typeof delta.index === 'number' ? delta.index : undefined;
    const slot = this.#slotFor(index, id, name);
    if (index !== undefined) this.#byIndex.set(index, slot);
    this.#last = slot;
    if (slot.id === '') slot.id = id;
    if (name !== '' && name !== slot.name && slot.fragments.length === 0) slot.name += name;
    else if (slot.name === '') slot.name = name;
    if (part.arguments != null && part.arguments !== '') {
      const fragment = jsonOf(part.arguments);
      slot.fragments.push(fragment);
      slot.balance.push(fragment);
    }
    const signature = signatureIn(delta.extra_content);
    if (signature !== undefined) slot.signature = signature;
    if (this.#options.ours && isObject(delta.npc)) slot.marks = marksIn(delta.npc);
  }

  /** The calls of a response that has ended with `finish`; one without a name is left out, which `nameless` counts. */
  finish(finish: FinishReason | undefined): { calls: ReplyCall[]; nameless: number } {
    const ids = new Set<string>();
    const named = this.#slots.filter((slot) => bareName(slot.name) !== '');
    const calls = named.map((slot) => {
      const id = slot.id !== '' && !ids.has(slot.id) ? slot.id : `call_${uuid().replaceAll('-', '').slice(0, 24)}`;
      ids.add(id);
      return toCall(slot, id, finish, this.#options.offered);
    });
    // a gateway that sends an empty place says nothing
    const lost = this.#slots.filter((slot) => !named.includes(slot) && saysSomething(slot));
    return { calls, nameless: lost.length };
  }

  /** The text received so far, for an estimate of its tokens. */
  received(): string {
    return this.#slots.map((slot) => slot.name + slot.fragments.join('')).join('');
  }

  #slotFor(index: number | undefined, id: string, name: string): Slot {
    const base = index === undefined ? this.#last : this.#byIndex.get(index);
    if (id !== '' && id !== base?.id) return this.#slotOfOtherId(base, { id, name, index });
    if (!base) return this.#open();
    const another = name !== '' && (id === '' || name !== base.name) && isFull(base);
    return another ? this.#open() : base;
  }

  /** Where a delta belongs whose id is not that of the call at its place. */
  #slotOfOtherId(base: Slot | undefined, { id, name, index }: { id: string; name: string; index: number | undefined }) {
    const known = this.#slots.findLast((slot) => slot.id === id);
    // a new index with a name is a new call, though a gateway may give all of them one id
    if (known && (base || index === undefined || name === '')) return known;
    if (!base) return this.#open();
    // a changed id without a name means nothing
    if (name === '') return base;
    if (base.id !== '') return this.#open();
    // a late id belongs to the open call, unless that is complete, or nothing but its id could tell the new one
    const other = base.name !== '' && (isFull(base) || (index === undefined && name !== base.name));
    return other ? this.#open() : base;
  }

  #open(): Slot {
    const slot: Slot = { id: '', name: '', fragments: [], balance: new JsonBalance() };
    this.#slots.push(slot);
    return slot;
  }
}

function saysSomething({ id, name, fragments }: Slot): boolean {
  return id !== '' || name !== '' || fragments.length > 0;
}

/** Whether a call has a name and arguments that are a whole JSON object. */
function isFull(slot: Slot): boolean {
  // some gateways repeat the name in every delta, so it is not parsed each time
  return slot.name !== '' && slot.balance.whole && toObject(slot.fragments.join('')) !== undefined;
}

function toCall(slot: Slot, id: string, finish: FinishReason | undefined, offered: ReadonlySet<string>): ReplyCall {
  const raw = slot.fragments.join('');
  const input = inputOf(slot.fragments, finish);
  return {
    id,
    name: cleanName(slot.name, offered),
    input: input ?? {},
    raw: input === undefined ? raw : JSON.stringify(input),
    origin: 'native',
    ...(slot.signature === undefined ? {} : { signature: slot.signature }),
    ...(input === undefined ? { broken: brokenReason(raw, finish) } : {}),
    ...slot.marks,
  };
}

/** The arguments as an object; nothing is ever completed by guess. */
function inputOf(fragments: readonly string[], finish: FinishReason | undefined): Record<string, unknown> | undefined {
  const joined = fragments.join('');
  if (joined.trim() === '') return finish === 'length' ? undefined : {};
  const before = fragments.slice(0, -1).join('');
  const last = fragments.at(-1) ?? '';
  const cumulative = fragments.every((piece, at) => at === 0 || piece.startsWith(fragments[at - 1] ?? ''));
  return (
    toObject(joined) ??
    toObject(joined.replace(/^\s*\{\s*\}/, '')) ??
    (cumulative || toObject(before) ? toObject(last) : undefined)
  );
}

function toObject(json: string): Record<string, unknown> | undefined {
  const value = parseJson(json);
  const inner = typeof value === 'string' ? parseJson(value) : value;
  return isObject(inner) ? inner : undefined;
}

function brokenReason(raw: string, finish: FinishReason | undefined): string {
  if (finish === 'length') {
    return 'the arguments were cut off by the output limit; send the call again with less text, for instance in several smaller calls';
  }
  if (parseJson(raw) !== undefined) return 'the arguments are no JSON object; send the call again with an object';
  return 'the arguments are no complete JSON; send the whole call again';
}

/** Servers of gpt-oss send `ls<|channel|>commentary`. */
function bareName(name: string): string {
  return (name.split('<|', 1)[0] ?? '').trim();
}

function cleanName(name: string, offered: ReadonlySet<string>): string {
  const bare = bareName(name);
  const short = bare.replace(/^functions\./, '');
  return offered.has(short) ? short : bare;
}

/** Arguments that are no text are taken as they are; what is no object then makes the call a broken one. */
function jsonOf(given: unknown): string {
  return typeof given === 'string' ? given : (JSON.stringify(given) ?? '');
}

function marksIn({ origin, broken, refused }: Record<string, unknown>): CallMarks {
  return {
    ...(origin === 'rescued' ? { origin } : {}),
    ...(typeof broken === 'string' ? { broken } : {}),
    ...(typeof refused === 'string' ? { refused } : {}),
  };
}

function signatureIn(extra: unknown): string | undefined {
  const google = isObject(extra) ? extra.google : undefined;
  return isObject(google) && typeof google.thought_signature === 'string' ? google.thought_signature : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
