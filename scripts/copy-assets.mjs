// Copies what the program reads at run time but tsc does not emit (prompts, SQL, schemas) into dist.next/, folder for folder.
import { cp, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

const rooms = ['agents', 'coordinator', 'core', 'hub', 'llm', 'testing', 'cli'];
const kinds = new Set(['.md', '.sql', '.json', '.mjs', '.gitconfig']);

for (const room of rooms) {
  for (const entry of await readdir(room, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !kinds.has(extname(entry.name))) continue;
    const path = join(entry.parentPath, entry.name);
    await cp(path, join('dist.next', path));
  }
}
