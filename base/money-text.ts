/** `12.34 CNY`, and two digits that say something for small amounts: `0.0042 USD`. */
export function moneyText(amount: number, currency: string): string {
  return `${amount >= 1 || amount === 0 ? amount.toFixed(2) : shortest(amount)} ${currency}`;
}

/** Costs in several currencies: `1.20 CNY + 0.031 USD`; empty when there are none. */
export function costText(cost: Readonly<Record<string, number>>): string {
  return Object.entries(cost)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, amount]) => moneyText(amount, currency))
    .join(' + ');
}

function shortest(amount: number): string {
  const digits = Math.min(8, 1 - Math.floor(Math.log10(amount)));
  return amount.toFixed(digits);
}
