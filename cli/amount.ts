import { InvalidArgumentError } from 'commander';

const sizes: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const times: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a number with a unit behind it; undefined when it is none. A time without a unit is none, but for 0. */
export function readAmount(text: string, unit: 'count' | 'bytes' | 'ms'): number | undefined {
  const [, digits, suffix = ''] = /^(\d{1,15})([a-z]*)$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  if (Number(digits) === 0 && suffix === '') return 0;
  const factors = unit === 'count' ? { '': 1 } : unit === 'bytes' ? sizes : times;
  const factor = (factors as Readonly<Record<string, number>>)[suffix.toLowerCase()];
  return factor === undefined ? undefined : Number(digits) * factor;
}

/** Writes an amount as `readAmount` reads it, in the largest unit that leaves no rest. */
export function showAmount(value: number, unit: 'count' | 'bytes' | 'ms'): string {
  if (unit === 'count' || value === 0) return String(value);
  const fitting = Object.entries(unit === 'bytes' ? sizes : times).filter(([, factor]) => value % factor === 0);
  const [suffix, factor] = fitting.at(-1) ?? ['', 1];
  return `${value / factor}${suffix}`;
}

/** What an amount may be. */
export interface AmountRange {
  readonly unit: 'count' | 'bytes' | 'ms';
  readonly min: number;
  readonly max: number;
  /** What 0 means, where it is allowed beside the range. */
  readonly zero?: string;
}

/** A reader of a flag's value; what does not fit is told with the range. */
export function amount({ unit, min, max, zero }: AmountRange): (text: string) => number {
  const range = `it is ${showAmount(min, unit)} to ${showAmount(max, unit)}${zero === undefined ? '' : `, or 0 = ${zero}`}.`;
  const form = { count: '', bytes: ' A size is like 512k, 1m or 1g.', ms: ' A time is like 250ms, 30s, 5m, 1h or 7d.' }[
    unit
  ];
  return (text) => {
    const value = readAmount(text, unit);
    const fits = value !== undefined && ((value >= min && value <= max) || (value === 0 && zero !== undefined));
    if (!fits) throw new InvalidArgumentError(`${range}${form}`);
    return value;
  };
}
