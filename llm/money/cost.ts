import type { Money, Usage } from '../../protocol/index.ts';
import type { Price } from './price-table.ts';

/** What a call cost; what came from the provider's cache and what was written into it at their own prices. */
export function costOf(usage: Usage, price: Price): Money {
  const input = usage.input ?? 0;
  const { above = [] } = price;
  const rate = above.filter(({ tokens }) => input > tokens).toSorted((a, b) => b.tokens - a.tokens)[0] ?? price;
  const cached = Math.min(usage.cached, input);
  const written = Math.min(usage.written ?? 0, input - cached);
  const sum =
    (input - cached - written) * rate.input +
    cached * (rate.cached ?? rate.input) +
    written * (rate.written ?? rate.input) +
    (usage.output ?? 0) * rate.output;
  return { amount: sum / 1_000_000, currency: price.currency };
}
