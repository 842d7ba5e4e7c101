// Lays out the image's /opt/npc-crew in image/: what the program needs to run, without types, maps, documents and sources of packages.
// Run it after `npm run build && npm prune --omit=dev`; it changes nothing else.
import { existsSync } from 'node:fs';
import { chmod, cp, readdir, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { rgPath } from '@vscode/ripgrep';

const target = 'image';
const parts = ['bin', 'dist', 'node_modules', 'templates', 'package.json', 'LICENSE', 'README.md', 'CHANGELOG.md'];
const unneeded = /\.(d\.[cm]?ts|[cm]?ts|map|md|markdown)$/;
const folders = new Set(['docs', 'doc', 'test', 'tests', '__tests__', 'example', 'examples', '.github']);
const left = ['openai/src', 'zod/src', '@photostructure/sqlite/src', '.bin', '.package-lock.json'];
// this node goes into the image; where it has SQLite built in, the package with the same API is never loaded
const hasSqlite = await import('node:sqlite').then(
  () => true,
  () => false,
);
if (hasSqlite) left.push('@photostructure', 'node-addon-api', 'node-gyp-build');
const sources = left.map((path) => join('node_modules', path));

await rm(target, { recursive: true, force: true });
for (const part of parts) {
  if (existsSync(part))
    await cp(part, join(target, part), { recursive: true, filter: isNeeded, verbatimSymlinks: true });
}
await cp(process.execPath, join(target, 'bin', 'node'));
await chmod(join(target, 'bin', 'node'), 0o755);
await symlink(join('..', relative('.', rgPath)), join(target, 'bin', 'rg'));

const kept = await readdir(target, { recursive: true, withFileTypes: true });
console.error(`slim: ${kept.filter((entry) => entry.isFile()).length} files in ${target}/`);

function isNeeded(path) {
  if (path === join('dist', 'bench')) return false;
  if (!path.startsWith('node_modules')) return !path.endsWith('.map');
  if (sources.some((source) => path === source || path.startsWith(`${source}/`))) return false;
  // only at the top of a package: yaml, for one, keeps code in dist/doc
  const atTop = /node_modules\/(@[^/]+\/)?[^/@]+$/.test(dirname(path));
  if (atTop && folders.has(basename(path))) return false;
  return !unneeded.test(path) || /licen[cs]e|notice/i.test(basename(path));
}
