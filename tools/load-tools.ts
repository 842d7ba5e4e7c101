import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AppError } from '../base/errors.ts';
import type { Tool } from '../core/tool.ts';

/** Names of the tools there are: those of the files in this folder. */
export async function toolNames(folder: URL = new URL('./', import.meta.url)): Promise<string[]> {
  return [...(await toolFiles(folder)).keys()].sort();
}

/**
 * Loads tools by name, in the order of the names. Throws `misconfigured` for a name without a file, and for a file that
 * does not export a tool of its own name.
 */
export async function loadTools(
  names: readonly string[],
  folder: URL = new URL('./', import.meta.url),
): Promise<Tool[]> {
  const files = await toolFiles(folder);
  return Promise.all(
    names.map(async (name) => {
      const file = files.get(name);
      if (file === undefined) {
        throw new AppError(
          'misconfigured',
          `there is no tool "${name}"; there are: ${[...files.keys()].sort().join(', ')}`,
        );
      }
      const module: { default?: unknown } = await import(new URL(file, folder).href);
      return checked(module.default, name, file);
    }),
  );
}

async function toolFiles(folder: URL): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(fileURLToPath(folder), { withFileTypes: true })) {
    const [name, kind, ...more] = entry.name.split('.');
    // Tests, declarations and maps have one more dot.
    if (!entry.isFile() || name === undefined || name === 'load-tools' || more.length > 0) continue;
    if (kind === 'ts' || kind === 'js') files.set(name, entry.name);
  }
  return files;
}

function checked(value: unknown, name: string, file: string): Tool {
  const fail = (what: string) => new AppError('misconfigured', `tools/${file} ${what}`);
  if (value === undefined) throw fail('has no default export; end it with export default defineTool({ … })');
  const tool = value as Partial<Tool> | null;
  if (typeof tool !== 'object' || tool === null || typeof tool.run !== 'function') throw fail('exports no tool');
  if (tool.name !== name) throw fail(`exports a tool named "${tool.name}"; the name is the file's name`);
  if (!tool.description?.trim()) throw fail('has no description');
  if (typeof tool.input?.safeParse !== 'function') throw fail('has no input schema');
  return tool as Tool;
}
