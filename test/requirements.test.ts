import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const skipped = new Set(['node_modules', 'dist', '.git', 'coverage']);

function* testFiles(folder: URL): Generator<URL> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (skipped.has(entry.name)) continue;
    if (entry.isDirectory()) yield* testFiles(new URL(`${entry.name}/`, folder));
    else if (entry.name.endsWith('.test.ts')) yield new URL(entry.name, folder);
  }
}

const registered = new Map<string, string>();
for (const name of readdirSync(new URL('requirements/', import.meta.url))) {
  const exported = (await import(String(new URL(`requirements/${name}`, import.meta.url)))) as Record<
    string,
    Record<string, string>
  >;
  for (const [id, line] of Object.values(exported).flatMap((list) => Object.entries(list))) registered.set(id, line);
}
const cited = new Set(
  [...testFiles(root)].flatMap((file) => readFileSync(file, 'utf8').match(/\bR-[A-Z0-9]+-\d+\b/g) ?? []),
);

test('R-DOC-2: every requirement has a test that cites it', () => {
  expect([...registered.keys()].filter((id) => !cited.has(id))).toEqual([]);
});

test('R-DOC-2: every id that a test cites is a requirement with a sentence of its own', () => {
  expect([...cited].filter((id) => !registered.has(id))).toEqual([]);
  expect(new Set(registered.values()).size).toBe(registered.size);
});
