// Lays out the image's /opt/npc-crew in image/: what the program needs to run, without types, maps, documents and sources of packages.
// Run it after `npm run build && npm prune --omit=dev`; it changes nothing else.
import { chmod, cp, readdir, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { rgPath } from '@vscode/ripgrep';

const target = 'image';
const parts = ['bin', 'dist', 'node_modules', 'templates', 'package.json', 'LICENSE', 'README.md'];
const unneeded = /\.(d\.[cm]?ts|[cm]?ts|map|md|markdown)$/;
const folders = new Set(['docs', 'doc', 'test', 'tests', '__tests__', 'example', 'examples', '.github']);
const sources = [join('node_modules', 'openai', 'src'), join('node_modules', 'zod', 'src')];

await rm(target, { recursive: true, force: true });
for (const part of parts)
  await cp(part, join(target, part), { recursive: true, filter: isNeeded, verbatimSymlinks: true });

await cp(process.execPath, join(target, 'bin', 'node'));
await chmod(join(target, 'bin', 'node'), 0o755);
await symlink(join('..', relative('.', rgPath)), join(target, 'bin', 'rg'));

const kept = await readdir(target, { recursive: true, withFileTypes: true });
console.error(`slim: ${kept.filter((entry) => entry.isFile()).length} files in ${target}/`);

function isNeeded(path) {
  if (!path.startsWith('node_modules')) return !path.endsWith('.map');
  if (sources.some((source) => path === source || path.startsWith(`${source}/`))) return false;
  // only at the top of a package: yaml, for one, keeps code in dist/doc
  const atTop = /node_modules\/(@[^/]+\/)?[^/@]+$/.test(dirname(path));
  if (atTop && folders.has(basename(path))) return false;
  return !unneeded.test(path) || /licen[cs]e|notice/i.test(basename(path));
}
