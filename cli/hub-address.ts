import { AppError } from '../base/errors.ts';

/** The address of a hub as it was given, as agents use it (`ws:`). Throws `AppError('usage')` when it is none. */
export function hubAddress(url: string): string {
  if (URL.canParse(url) && /^(ws|http)s?:/.test(url)) return url.replace(/^http/, 'ws');
  throw new AppError('usage', `--hub ${url}: this is no address of a hub; it looks like ws://127.0.0.1:8765`);
}
