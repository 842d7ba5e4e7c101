import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { readStateFile, writeStateFile } from '../../base/state-file.ts';
import type { Environment } from '../../config/index.ts';
import { Dialect, type DialectTable } from '../../llm/index.ts';
import { stateRoot } from '../state-folder.ts';

/** How long what was found out counts, days: gateways change. */
export const GOOD_FOR_DAYS = 30;

const Entry = z.object({
  /** ISO time of the look. */
  checked: z.iso.datetime(),
  /** Only what differs from what the model's name lets presume. */
  dialect: z.record(z.string(), z.unknown()),
});
const ModelFile = z.object({ version: z.literal(1), models: z.record(z.string(), z.unknown()) });

/** Where `doctor model` keeps what it found out, and a run looks for it. */
export function modelFilePath(env: Environment): string {
  return join(stateRoot(env), 'models.json');
}

/** The dialects of models that were looked at in the last {@link GOOD_FOR_DAYS} days; entries that cannot be read are left out. */
export async function readDialects(path: string, now: number): Promise<DialectTable> {
  const entries = Object.entries(await readModels(path)).flatMap(([key, value]) => {
    const { data } = Entry.safeParse(value);
    if (!data || now - Date.parse(data.checked) >= GOOD_FOR_DAYS * 86_400_000) return [];
    return Dialect.safeParse(data.dialect).success ? [[key, data.dialect as Partial<Dialect>] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Adds these to the file; what stands there of other models stays. */
export async function keepDialects(path: string, dialects: DialectTable, now: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const checked = new Date(now).toISOString();
  const found = Object.entries(dialects).map(([key, dialect]) => [key, { checked, dialect }]);
  await writeStateFile(path, { version: 1, models: { ...(await readModels(path)), ...Object.fromEntries(found) } });
}

async function readModels(path: string): Promise<Readonly<Record<string, unknown>>> {
  const file = await readStateFile(path).catch(() => ({ state: 'absent' as const }));
  const parsed = 'value' in file ? ModelFile.safeParse(file.value) : undefined;
  return parsed?.data?.models ?? {};
}
