import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { frames } from '../protocol/index.ts';

interface Lane {
  readonly name: string;
  readonly to: { readonly pathNot?: string };
}
const cruiser = String(new URL('../.dependency-cruiser.mjs', import.meta.url));
const { default: config } = (await import(cruiser)) as { default: { forbidden: readonly Lane[] } };

const text = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8');
const root = new URL('../', import.meta.url);
const inCode = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? '');

/** Folders that hold no program of ours. */
const otherFolders = new Set([
  'bench',
  'bin',
  'coverage',
  'dist',
  'docs',
  'examples',
  'node_modules',
  'scripts',
  'templates',
  'test',
]);
const rooms = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !otherFolders.has(entry.name))
  .map((entry) => entry.name);

test('R-DOC-1: every path that ARCHITECTURE.md names exists', () => {
  const paths = inCode.filter(
    (code) => /^[\w.-]+\/[\w./-]*$/.test(code) && !code.startsWith('trees/') && !code.startsWith('.npc/'),
  );
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test('R-DOC-1: every frame type is named, and nothing that looks like one is made up', () => {
  const named = new Set(inCode);
  expect(Object.keys(frames).filter((type) => !named.has(type))).toEqual([]);
  const tasks = inCode.filter((code) => /^task\.[a-z]+$/.test(code));
  expect(tasks.filter((type) => !Object.hasOwn(frames, type))).toEqual([]);
});

test('R-DOC-1: the table has every room, and the lanes have no other', () => {
  const inTable = [...text.matchAll(/^\| `([\w-]+)\/` *\|/gm)].map(([, room]) => room).sort();
  expect(inTable).toEqual([...rooms].sort());
  const lanes = config.forbidden.flatMap(({ name }) => (name.startsWith('lane:') ? [name.slice(5)] : []));
  expect(lanes.sort()).toEqual(rooms.filter((room) => room !== 'cli').sort());
});

test('R-DOC-1: what a room may import stands in the table as the lanes have it', () => {
  for (const rule of config.forbidden.filter(({ name }) => name.startsWith('lane:'))) {
    const room = rule.name.slice(5);
    const allowed = String(rule.to.pathNot)
      .replace(/^\^\(|\)\/$/g, '')
      .split('|');
    const row = new RegExp(`^\\| \`${room}/\` *\\|.*\\| (.*?) *\\|$`, 'm').exec(text)?.[1] ?? '';
    const extra = allowed.filter((other) => ![room, 'base', 'protocol'].includes(other));
    expect({ room, imports: [...row.matchAll(/`([\w/-]+)`/g)].map(([, name]) => name) }).toEqual({
      room,
      imports: extra,
    });
  }
});
