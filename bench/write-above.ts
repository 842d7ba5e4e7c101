import { readFile, writeFile } from 'node:fs/promises';

/** Writes `text` into a page; what was written by hand, from the heading `byHand` on, stays below it. */
export async function writeAbove(path: string, byHand: string, text: string): Promise<void> {
  const before = await readFile(path, 'utf8').catch(() => '');
  const at = before.indexOf(byHand);
  await writeFile(path, `${text}\n\n${at === -1 ? `${byHand}\n` : before.slice(at)}`);
}
