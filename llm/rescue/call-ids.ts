import { randomBytes, randomInt } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A fresh id in the form that the models of a format know. */
export function freshId(format: string, name: string): string {
  switch (format) {
    case 'kimi-k2':
      return `functions.${name}:${randomInt(1_000_000_000)}`;
    case 'mistral-v3':
    case 'mistral-v11':
    case 'mistral-v13':
      return Array.from({ length: 9 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    case 'cohere':
      return String(randomInt(1_000_000_000));
    default:
      return `call_${randomBytes(12).toString('hex')}`;
  }
}
