import { z } from 'zod';

const amount = z.number().nonnegative();
const tokens = z.int().positive();

/** Prices of a million tokens. `cached` and `written` are parts of the input; without a price of their own they cost what the input costs. */
const PerMillion = z.strictObject({
  input: amount,
  output: amount,
  cached: amount.optional(),
  written: amount.optional(),
});

/** One line of a price file; it may know the price, the window, or both. */
const Entry = z
  .strictObject({
    /** Name of the model, `*` for any characters. */
    model: z.string().min(1),
    /** Counts only at endpoints whose host has this in it. */
    host: z.string().min(1).optional(),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'is no currency code such as CNY')
      .optional(),
    ...PerMillion.partial().shape,
    /** Prices of requests with more than so many tokens of input. */
    above: z.array(PerMillion.extend({ tokens })).optional(),
    /** Tokens that the model's context holds, and that one reply may have. */
    window: tokens.optional(),
    max_output: tokens.optional(),
  })
  .refine(
    ({ currency, input, output }) => new Set([currency, input, output].map((part) => part === undefined)).size < 2,
    {
      error: 'currency, input and output stand together',
    },
  );
type Entry = z.infer<typeof Entry>;

/** A file of prices and windows. */
export const PriceFile = z.strictObject({
  models: z.array(Entry).default([]),
  /** What one unit of a currency is worth in the one of the budget: `{"USD": 7.1}`. */
  rates: z.record(z.string().regex(/^[A-Z]{3}$/), z.number().positive()).default({}),
});
export type PriceFile = z.infer<typeof PriceFile>;

/** What a model costs at one endpoint. */
export interface Price extends z.infer<typeof PerMillion> {
  readonly currency: string;
  readonly above?: readonly (z.infer<typeof PerMillion> & { readonly tokens: number })[] | undefined;
}

/** Finds prices and windows in files, the first of which wins. */
export class PriceTable {
  readonly #files: readonly PriceFile[];

  constructor(files: readonly PriceFile[]) {
    this.#files = files;
  }

  /** See {@link PriceFile}; an earlier file wins. */
  get rates(): Readonly<Record<string, number>> {
    return Object.assign({}, ...this.#files.map(({ rates }) => rates).reverse());
  }

  /** The price of a model at a host; undefined when it is not known. */
  priceOf(model: string, host: string): Price | undefined {
    const found = this.#find(model, host, ({ currency }) => currency !== undefined);
    if (found?.currency === undefined || found.input === undefined || found.output === undefined) return undefined;
    const { currency, input, output, cached, written, above } = found;
    return {
      ...{ currency, input, output, above },
      ...(cached === undefined ? {} : { cached }),
      ...(written === undefined ? {} : { written }),
    };
  }

  /** How many tokens a model's context holds; undefined when it is not known. */
  windowOf(model: string, host: string): number | undefined {
    return this.#find(model, host, ({ window }) => window !== undefined)?.window;
  }

  /** How many tokens one reply of a model may have; undefined when it is not known. */
  maxOutputOf(model: string, host: string): number | undefined {
    return this.#find(model, host, ({ max_output }) => max_output !== undefined)?.max_output;
  }

  #find(model: string, host: string, has: (entry: Entry) => boolean): Entry | undefined {
    for (const { models } of this.#files) {
      const fitting = models
        .filter((entry) => has(entry) && (entry.host === undefined || host.includes(entry.host)))
        .map((entry) => ({ entry, rank: rankOf(entry.model, model) + (entry.host === undefined ? 0 : 0.5) }))
        .filter(({ rank }) => rank >= 1);
      const [best] = fitting.toSorted((a, b) => b.rank - a.rank);
      if (best) return best.entry;
    }
    return undefined;
  }
}

const EXACT = 1_000_000;

/** How well an entry's name fits a model's: exactly, exactly without vendors, else by the number of characters that it names; 0 = not. */
function rankOf(pattern: string, name: string): number {
  const [wanted, given] = [pattern.toLowerCase(), name.toLowerCase()];
  if (wanted === given) return EXACT + 2;
  const [bare, bareGiven] = [withoutVendor(wanted), withoutVendor(given)];
  if (bare === bareGiven) return EXACT + 1;
  if (!bare.includes('*')) return bare === withoutDate(bareGiven) ? EXACT : 0;
  const expression = new RegExp(`^${bare.split('*').map(literal).join('.*')}$`);
  return expression.test(bareGiven) ? bare.replaceAll('*', '').length + 1 : 0;
}

/** `Pro/deepseek-ai/DeepSeek-V3` is `DeepSeek-V3` of some vendor. */
function withoutVendor(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** A model's name without the day of its release. */
function withoutDate(name: string): string {
  return name.replace(/-(?:latest|\d{4}|\d{8}|\d{4}-\d{2}-\d{2})$/, '');
}

function literal(text: string): string {
  return text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
}
