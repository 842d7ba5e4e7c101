import { Block } from './block.ts';
import { endsOfTurn, endsOfTurnOrCall, messageEnd } from './control-tokens.ts';
import { NOTHING, type Parse, pastSpace } from './cursor.ts';
import { readBare } from './grammars/bare.ts';
import type { Grammar } from './grammars/grammar.ts';
import { grammars } from './grammars/index.ts';
import { type Marker, Markers } from './markers.ts';
import { Outlet } from './outlet.ts';
import { anyOf, match, word } from './patterns.ts';
import { ProtectedText } from './protected-text.ts';
import type { Sink } from './sink.ts';
import { findCloser, leadingThought, type ThinkingTag } from './thinking-tags.ts';
import type { Tools } from './tools.ts';

interface ScannerOptions {
  readonly tools: Tools;
  readonly sink: Sink;
  /** The text is a whole message: thinking, or a call without markers, may stand at its start. */
  readonly isMessage: boolean;
}

const [LESS, GREATER, BRACKET, BRACE] = [0x3c, 0x3e, 0x5b, 0x7b];
const [BACKTICK, TILDE, F] = [0x60, 0x7e, 0x66];
const lineGrammars = grammars.filter((grammar) => grammar.at === 'line');
const lineOpener = anyOf(...lineGrammars.map((grammar) => grammar.opener));
const quoteMark = word('> ');

/** Finds calls, thinking and control tokens in text that comes piece by piece; holds back only what may still become one. */
export class Scanner {
  readonly #tools: Tools;
  readonly #isMessage: boolean;
  readonly #markers: Markers;
  readonly #outlet: Outlet;
  readonly #protected: ProtectedText;
  readonly #steps: Parse<void>;
  #inMessage = false;
  /** Tags of thinking that stand open as text, by pair. */
  readonly #openThoughts: number[] = [];
  /** Behind backticks that belong to no code span. */
  #literal = -1;

  constructor({ tools, sink, isMessage }: ScannerOptions) {
    this.#tools = tools;
    this.#isMessage = isMessage;
    this.#markers = tools.none ? Markers.withoutCalls : Markers.all;
    this.#outlet = new Outlet(sink);
    this.#protected = new ProtectedText(this.#outlet);
    this.#steps = this.#scan();
  }

  push(text: string): void {
    this.#outlet.cursor.push(text);
    this.#steps.next();
    this.#outlet.flush();
  }

  /** The text is over: what was held back is decided. */
  end(): void {
    this.#outlet.cursor.close();
    this.#steps.next();
    this.#outlet.flush();
  }

  *#scan(): Parse<void> {
    const { cursor, line } = this.#outlet;
    if (this.#isMessage) yield* this.#opening();
    for (;;) {
      const code = cursor.code(cursor.position);
      if (code === NOTHING) {
        if (cursor.ended) return;
        yield;
      } else if (code === LESS || code === BRACKET) yield* this.#bracket();
      else if (code === BACKTICK) this.#literal = (yield* this.#protected.backticks()) ?? this.#literal;
      else if (code === TILDE && line.blank) yield* this.#protected.tildes();
      else if ((code === F || code === GREATER) && this.#mayBegin(code)) yield* this.#lineStart(code);
      else this.#outlet.takePlain();
    }
  }

  /** What may stand only at the very start: thinking, then a call without markers. */
  *#opening(): Parse<void> {
    const outlet = this.#outlet;
    const { cursor } = outlet;
    const closer = yield* leadingThought(cursor, yield* pastSpace(cursor));
    if (closer) {
      outlet.hide(cursor.position);
      outlet.turnTo('thinking');
      const found = yield* findCloser(cursor, closer, (to) => outlet.release(to));
      outlet.turnTo('text');
      outlet.hide(found ? yield* pastSpace(cursor, found.to) : cursor.end);
      outlet.line.begin(cursor.position);
    }
    const at = yield* pastSpace(cursor);
    const code = cursor.code(at);
    if (this.#tools.none || (code !== BRACE && code !== BRACKET)) return;
    const block = this.#open(at, 'llama3');
    const back = cursor.position;
    cursor.position = at;
    if (yield* readBare(block)) this.#remove(block);
    else cursor.position = back;
  }

  /** An opener, a token, or just a bracket. */
  *#bracket(): Parse<void> {
    const outlet = this.#outlet;
    const { cursor } = outlet;
    const at = cursor.position;
    if (at === this.#literal || outlet.line.isMention(cursor, at)) return outlet.take(at + 1);
    const isThinking = outlet.route === 'thinking';
    const look = yield* this.#markers.look(cursor, at, isThinking);
    if ('cut' in look) return look.cut.length === 0 ? outlet.take(at + 1) : this.#cut(at, look.cut);
    const { one: marker, end } = look;
    if (marker.kind === 'turn' && this.#inMessage && messageEnd(cursor, at) >= 0) return this.#endMessage(end);
    switch (marker.kind) {
      case 'opener':
        if (!(yield* this.#block(at, end, marker.grammar))) outlet.take(at + 1);
        return;
      case 'framing':
        return outlet.hide(end, true);
      case 'thinking':
        return this.#thinkingTag(marker.tag, at, end);
      case 'closer':
        if (outlet.afterBlock) return outlet.hide(end);
        return yield* this.#protected.trailing(endsOfTurnOrCall);
      case 'turn':
        if (isThinking) return outlet.take(at + 1);
        return yield* this.#protected.trailing(this.#tools.none ? endsOfTurn : endsOfTurnOrCall);
      default:
        return marker satisfies never;
    }
  }

  /** A tag of thinking that is not at the start is text, and so is the closer of one; a closer that nobody opened is taken out. */
  #thinkingTag({ pair, opens }: ThinkingTag, at: number, end: number): void {
    const outlet = this.#outlet;
    const open = this.#openThoughts[pair] ?? 0;
    if (opens || open > 0) {
      this.#openThoughts[pair] = opens ? open + 1 : open - 1;
      outlet.take(at + 1);
    } else outlet.remove(end, (raw) => outlet.sink.thinkingEnded(raw));
  }

  /** The text ended in markers: they are a cut call, the rest of a closer, or text. */
  #cut(at: number, markers: readonly Marker[]): void {
    const { cursor, afterBlock } = this.#outlet;
    const text = cursor.slice(at, cursor.end);
    for (const marker of this.#tools.none ? [] : markers) {
      if (marker.kind !== 'opener' || !(marker.grammar.cut ?? isLong)(text)) continue;
      const block = this.#open(at, marker.grammar.format);
      block.cut();
      this.#remove(block);
      return;
    }
    if (afterBlock && markers.some((marker) => marker.kind === 'closer')) this.#outlet.hide(cursor.end);
    else this.#outlet.take(at + 1);
  }

  /** Reads a block whose opener stands between `at` and `end`; false when there is none. */
  *#block(at: number, end: number, grammar: Grammar): Parse<boolean> {
    const { cursor } = this.#outlet;
    const block = this.#open(at, grammar.format);
    cursor.position = end;
    if (yield* grammar.read(block)) {
      this.#remove(block);
      return true;
    }
    cursor.position = at;
    return false;
  }

  #mayBegin(code: number): boolean {
    const { cursor, line, afterBlock } = this.#outlet;
    return cursor.position === line.start || (code === GREATER && (line.mayQuote || afterBlock));
  }

  /** `>` and `f` begin something only at the start of a line. */
  *#lineStart(code: number): Parse<void> {
    const { cursor, line, afterBlock } = this.#outlet;
    const at = cursor.position;
    const mayBegin = at === line.start || (code === GREATER && afterBlock);
    if (mayBegin && !this.#tools.none && this.#outlet.route === 'text') {
      const end = yield* match(cursor, lineOpener);
      const grammar = end < 0 ? undefined : lineGrammars.find(({ opener }) => opener(cursor, at) >= 0);
      if (grammar && (yield* this.#block(at, end, grammar))) return;
    }
    if (code === GREATER && line.mayQuote && (yield* match(cursor, quoteMark)) >= 0)
      yield* this.#protected.restOfLine();
    else this.#outlet.take(at + 1);
  }

  #endMessage(end: number): void {
    this.#outlet.hide(end, true);
    this.#outlet.turnTo('text');
    this.#inMessage = false;
  }

  /** Takes a block out of the text. */
  #remove(block: Block): void {
    const outlet = this.#outlet;
    const isCall = block.units.length > 0;
    const to = outlet.cursor.position;
    outlet.remove(to, (raw) => (isCall ? outlet.sink.block(block, raw) : outlet.sink.hidden(raw)));
    outlet.turnTo(block.channel === 'thinking' ? 'thinking' : 'text');
    this.#inMessage = block.channel !== undefined;
    if (this.#inMessage) outlet.line.begin(to);
    outlet.afterBlock = isCall;
    outlet.fresh ||= isCall;
  }

  #open(start: number, format: string): Block {
    return new Block(this.#outlet.cursor, this.#tools, format, { start, fresh: this.#outlet.fresh });
  }
}

/** Fewer characters of an opener than this are text. */
function isLong(text: string): boolean {
  return text.length >= 6;
}
