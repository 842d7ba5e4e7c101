/** 满减档位，从低到高：满 `threshold` 减 `off`，单位是分。 */
export const tiers = [
  { threshold: 10_000, off: 1_000 },
  { threshold: 30_000, off: 4_000 },
];

/** 商品的总价（分）。 */
export function total(items) {
  return items.reduce((sum, item) => sum + item.price * item.count, 0);
}

/** 减去满减优惠后应付的金额（分）。 */
export function payable(items) {
  const amount = total(items);
  const tier = tiers.find(({ threshold }) => amount > threshold);
  return amount - (tier?.off ?? 0);
}
