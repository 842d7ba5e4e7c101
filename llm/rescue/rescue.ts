import { isDeepStrictEqual } from 'node:util';
import type { DroppedCall, FoundCall, Unit } from './block.ts';
import { freshId } from './call-ids.ts';
import { Content } from './content.ts';
import { Reasoning } from './reasoning.ts';
import { Scanner } from './scanner.ts';
import { type ParameterTypes, Tools } from './tools.ts';

export interface RescueOptions {
  /** Names of the tools that the request offered. Without any, only thinking and control tokens are looked for. */
  readonly offered: ReadonlySet<string>;
  /** By tool and parameter, for formats that write values as plain text. */
  readonly types?: ParameterTypes;
}

/** What may be shown now. It is never taken back. */
export interface Shown {
  readonly text: string;
  readonly thinking: string;
}

/** A call that a model wrote as text. */
export interface RescuedCall extends FoundCall {
  /** Fresh and unique in the message. */
  readonly id: string;
}

/** A structured call, as far as it matters here. */
interface StructuredCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The end of a message. */
export interface Rescued extends Shown {
  readonly calls: readonly RescuedCall[];
  /** Calls that could not be used and must be asked for again. */
  readonly dropped: readonly DroppedCall[];
}

/** Takes the calls out of one message that its model wrote as text, and tells thinking from text, while both arrive. */
export class Rescue {
  readonly #content: Content;
  readonly #reasoning: Reasoning;
  readonly #contentScanner: Scanner;
  readonly #reasoningScanner: Scanner;
  #text = '';
  #thinking = '';

  constructor(options: RescueOptions) {
    const tools = new Tools(options.offered, options.types);
    this.#reasoning = new Reasoning((text) => {
      this.#thinking += text;
    });
    this.#reasoningScanner = new Scanner({ tools, sink: this.#reasoning, isMessage: false });
    this.#content = new Content(
      (text) => {
        this.#text += text;
      },
      (text) => this.#reasoningScanner.push(text),
    );
    this.#contentScanner = new Scanner({ tools, sink: this.#content, isMessage: true });
  }

  /** Takes content that came. */
  text(delta: string): Shown {
    this.#contentScanner.push(delta);
    return this.#shown();
  }

  /** Takes reasoning that came in a field of its own. */
  thinking(delta: string): Shown {
    this.#reasoningScanner.push(delta);
    return this.#shown();
  }

  /** The message is over. `structured` are the calls that came as such, broken ones too; `lost` = so many more came without a name. */
  finish(structured: readonly StructuredCall[], lost = 0): Rescued {
    this.#contentScanner.end();
    this.#reasoningScanner.end();
    let units = this.#content.units();
    // a model that forgot to close its thinking has put its call there
    if (units.length === 0 && !this.#content.visible && structured.length + lost === 0) units = this.#reasoning.take();
    else this.#reasoning.release();
    const found = units.filter(isCall);
    const news = found.filter((call) => !structured.some((other) => isSame(call, other)));
    return { ...this.#shown(), calls: withIds(news), dropped: units.filter((unit) => 'reason' in unit) };
  }

  #shown(): Shown {
    const shown = { text: this.#text, thinking: this.#thinking };
    this.#text = '';
    this.#thinking = '';
    return shown;
  }
}

function isCall(unit: Unit): unit is FoundCall {
  return 'input' in unit;
}

function isSame(call: FoundCall, other: StructuredCall): boolean {
  return call.name === other.name && isDeepStrictEqual(call.input, other.input);
}

function withIds(calls: readonly FoundCall[]): RescuedCall[] {
  const used = new Set<string>();
  return calls.map((call) => {
    let id = freshId(call.format, call.name);
    while (used.has(id)) id = freshId(call.format, call.name);
    used.add(id);
    return { ...call, id };
  });
}
