import { readFileSync } from 'node:fs';

/** Version of the package this file belongs to, found the same way from the source and from `dist/`. */
export const version: string = readVersion(
  new URL('../package.json', import.meta.url),
  new URL('../../package.json', import.meta.url),
);

function readVersion(...places: URL[]): string {
  for (const place of places) {
    try {
      return JSON.parse(readFileSync(place, 'utf8')).version;
    } catch {
      // not here: the next place
    }
  }
  return '0.0.0';
}
