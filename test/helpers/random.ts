/** Chance that can be repeated: the same seed draws the same numbers. */
export interface Random {
  /** A number from 0 up to, not including, 1. */
  next(): number;
  /** A whole number from 0 up to, not including, `below`. */
  int(below: number): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  shuffle<T>(list: readonly T[]): T[];
  /** Another source, fixed by this one's seed and a name, that draws nothing from this one. */
  fork(name: string): Random;
}

/** Draws from `seed` (mulberry32: small, and good enough to choose by). */
export function seededRandom(seed: number | string): Random {
  let state = typeof seed === 'number' ? seed >>> 0 : hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    next,
    int,
    between: (least, most) => least + int(most - least + 1),
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]) => list[int(list.length)] as T,
    shuffle: <T>(list: readonly T[]) => {
      const items = [...list];
      for (let last = items.length - 1; last > 0; last -= 1) {
        const other = int(last + 1);
        [items[last], items[other]] = [items[other] as T, items[last] as T];
      }
      return items;
    },
    fork: (name) => seededRandom(`${seed}/${name}`),
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value >>> 0;
}
