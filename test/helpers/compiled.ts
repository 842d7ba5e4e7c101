import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Compiles TypeScript files (paths from the root of the repository) and what they import into `folder`, so that a test
 * can start them again and again without paying for the compiler each time. Resolves to the path of each one.
 */
export async function compile(folder: string, files: readonly string[]): Promise<string[]> {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      noCheck: true,
      rootDir: root,
      outDir: folder,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: files.map((file) => join(root, file)),
    exclude: [],
  };
  await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await execa(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  return files.map((file) => join(folder, file.replace(/\.ts$/, '.js')));
}
