import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { AppError, messageOf } from '../../base/errors.ts';
import { PriceFile, PriceTable } from './price-table.ts';

/**
 * The prices and windows that come with the program, and before them those of a file of the user's, JSON or YAML.
 * Throws AppError `misconfigured` that names what is wrong in the file.
 */
export async function loadPrices(path?: string): Promise<PriceTable> {
  const ours = PriceFile.parse(JSON.parse(await readFile(new URL('prices.json', import.meta.url), 'utf8')));
  return new PriceTable(path === undefined ? [ours] : [await readPriceFile(path), ours]);
}

async function readPriceFile(path: string): Promise<PriceFile> {
  const fault = (what: string, cause?: unknown) =>
    new AppError('misconfigured', `NPC_PRICES: ${path}: ${what} (docs/models.md shows the form)`, { cause });
  let value: unknown;
  try {
    value = parse(await readFile(path, 'utf8'));
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw fault(absent ? 'there is no such file' : `it is neither JSON nor YAML: ${messageOf(error)}`, error);
  }
  const parsed = PriceFile.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  throw fault(z.prettifyError(parsed.error).replaceAll('\n', ' '));
}
