import { InvalidArgumentError } from 'commander';
import { AppError } from '../base/errors.ts';

/** Reads a port number, 0 included; commander tells the person what was wrong. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is 0-65535.');
  return port;
}

/** Reads how many; 0 included. */
export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('it is a whole number, as in 20.');
  return Number(text);
}

/** Reads values that stand with commas between them, and adds them to those of the same option before. */
export function parseList(text: string, before: readonly string[] = []): string[] {
  const values = text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  if (values.length === 0) throw new InvalidArgumentError('it is empty.');
  return [...before, ...values];
}

/** Reads how many times as fast; a fraction is slower. */
export function parseSpeed(text: string): number {
  const speed = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || speed <= 0)
    throw new InvalidArgumentError('it is a number above 0, as in 10 or 0.5.');
  return speed;
}

/** The setting behind `--no-thinking`, which is the only form of the flag. */
export function quiet({ thinking }: { readonly thinking?: boolean }): { readonly thinking?: 'off' } {
  return thinking === false ? { thinking: 'off' } : {};
}

/** Throws `AppError('usage')` when more than one of these was given. */
export function onlyOne(options: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(options).filter((name) => options[name] !== undefined);
  if (given.length > 1) {
    throw new AppError('usage', `${given.join(' and ')} do not go together; take one of them`);
  }
}
