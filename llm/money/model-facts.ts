import type { Money, Usage } from '../../protocol/index.ts';
import { costOf } from './cost.ts';
import type { Price, PriceTable } from './price-table.ts';

/** What a model's context is taken to hold when nobody says, tokens. */
const DEFAULT_WINDOW = 128_000;
/** What one reply may have when nobody says, tokens. Every provider allows as much. */
const DEFAULT_OUTPUT = 8192;

/** A model at an endpoint. */
export interface ModelPlace {
  readonly model: string;
  readonly host: string;
}

/** What is known of models: prices, windows, the length of replies. What is not known is said once. */
export class ModelFacts {
  readonly #prices: PriceTable;
  readonly #onNotice: (line: string) => void;
  readonly #told = new Set<string>();

  constructor(prices: PriceTable, onNotice: (line: string) => void) {
    this.#prices = prices;
    this.#onNotice = onNotice;
  }

  priceOf({ model, host }: ModelPlace): Price | undefined {
    return this.#prices.priceOf(model, host);
  }

  /** What a call cost; undefined when the price is not known. */
  costOf(place: ModelPlace, usage: Usage): Money | undefined {
    const price = this.priceOf(place);
    return price && costOf(usage, price);
  }

  /** How many tokens a model's context holds. */
  windowOf({ model, host }: ModelPlace): number {
    return this.#prices.windowOf(model, host) ?? DEFAULT_WINDOW;
  }

  /** How many tokens one reply of a model may have; undefined when it is not known. */
  knownOutputOf({ model, host }: ModelPlace): number | undefined {
    return this.#prices.maxOutputOf(model, host);
  }

  /** How many tokens one reply of a model may have, a safe guess where it is not known. */
  maxOutputOf(place: ModelPlace): number {
    return this.knownOutputOf(place) ?? DEFAULT_OUTPUT;
  }

  /** Tells people, once for each model, what is not known of it. */
  tellUnknown({ model, host }: ModelPlace): void {
    if (this.#told.has(`${model} ${host}`)) return;
    this.#told.add(`${model} ${host}`);
    const unknown = [
      ...(this.#prices.priceOf(model, host) ? [] : ['its price is not known, so what it costs is not counted']),
      ...(this.#prices.windowOf(model, host) !== undefined
        ? []
        : [`its context is taken as ${DEFAULT_WINDOW.toLocaleString('en')} tokens`]),
    ];
    if (unknown.length === 0) return;
    this.#onNotice(`the model "${model}": ${unknown.join(', and ')}; a file named by NPC_PRICES can say more`);
  }
}
