import { createHash } from 'node:crypto';
import { lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { ToolContext } from '../../core/tool.ts';

type Where = Pick<ToolContext, 'cwd' | 'env'>;

/**
 * Folder for output that was too long for an answer: outside the work tree, so that it is never committed, and the same
 * for every attempt in this tree. Only its owner may look into it.
 */
export async function outputFolder(context: Where): Promise<string> {
  const folder = await folderName(context);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const info = await lstat(folder);
  // In a shared temporary folder somebody else might have laid a link or a folder of their own there.
  if (!info.isDirectory() || info.uid !== process.getuid?.()) {
    throw new AppError('refused', `${folder} belongs to somebody else; set TMPDIR to a folder of your own`);
  }
  return folder;
}

/** Keeps a long output in a file named after its content; returns the path. */
export async function keepOutput(context: Where, text: string): Promise<string> {
  const name = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const path = join(await outputFolder(context), `${name}.txt`);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

/** The real path of one of those files, or undefined when `path` names nothing in there. */
export async function keptOutput(context: Where, path: string): Promise<string | undefined> {
  const folder = await realpath(await folderName(context)).catch(() => undefined);
  const file = await realpath(path).catch(() => undefined);
  return folder && file?.startsWith(`${folder}/`) ? file : undefined;
}

/** Removes them all, at the end of the task. */
export async function clearOutputs(context: Where): Promise<void> {
  await rm(await folderName(context), { recursive: true, force: true });
}

async function folderName({ cwd, env }: Where): Promise<string> {
  const tree = createHash('sha256').update(cwd).digest('hex').slice(0, 16);
  return join(env.TMPDIR || '/tmp', `npc-crew-output-${tree}`);
}
