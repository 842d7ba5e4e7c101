import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { loadTools, toolNames } from './load-tools.ts';

async function folderWith(files: Record<string, string>): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'npc-tools-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return pathToFileURL(`${folder}/`);
}

const good = (name: string) =>
  `export default { name: '${name}', description: 'd', input: { safeParse() {} }, run() { return 'ran'; } };`;

test('R-TOOL-45: every file in the folder is a tool that loads under its own name', async () => {
  const names = await toolNames();
  expect(names).toEqual(['ask', 'bash', 'comment', 'edit', 'glob', 'grep', 'plan', 'read', 'submit-result', 'write']);
  expect((await loadTools(names)).map(({ name }) => name)).toEqual(names);
});

test('R-TOOL-45: a file dropped into the folder is a tool; tests, declarations and maps are none', async () => {
  const folder = await folderWith({
    'new-one.js': good('new-one'),
    'new-one.test.js': '',
    'new-one.d.ts': '',
    'new-one.js.map': '{}',
  });
  expect(await toolNames(folder)).toEqual(['new-one']);
  const [tool] = await loadTools(['new-one'], folder);
  expect(await tool?.run({}, {} as never)).toBe('ran');
});

test('R-TOOL-46: a name without a file, a wrong name and a missing export are said loudly', async () => {
  const folder = await folderWith({
    'a.js': good('b'),
    'none.js': 'export const tool = 1;',
    'half.js': "export default { name: 'half' };",
    'mute.js': "export default { name: 'mute', description: ' ', input: { safeParse() {} }, run() {} };",
    'broken.js': 'export default {',
  });
  await expect(loadTools(['reed'])).rejects.toThrow('there is no tool "reed"; there are: ask, bash');
  await expect(loadTools(['a'], folder)).rejects.toThrow('tools/a.js exports a tool named "b"');
  await expect(loadTools(['none'], folder)).rejects.toThrow('no default export');
  await expect(loadTools(['half'], folder)).rejects.toThrow('exports no tool');
  await expect(loadTools(['mute'], folder)).rejects.toThrow('no description');
  await expect(loadTools(['broken'], folder)).rejects.toThrow();
});
