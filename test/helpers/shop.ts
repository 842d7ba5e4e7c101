import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { type ModelServer, startModelServer } from '../../testing/model-server.ts';
import { readScript, type ScriptSource } from '../../testing/script.ts';

const run = promisify(execFile);
const demo = fileURLToPath(new URL('../../cli/demo', import.meta.url));

/** The demo's repository as a git work tree with one commit; returns git on it. */
export async function makeShop(folder: string): Promise<(...args: string[]) => Promise<string>> {
  await cp(join(demo, 'assets/shop'), folder, { recursive: true });
  const git = async (...args: string[]) => (await run('git', ['-C', folder, ...args])).stdout.trim();
  await git('init', '-q', '-b', 'main');
  await git('config', 'user.name', 'Shop');
  await git('config', 'user.email', 'shop@example.invalid');
  await git('add', '-A');
  await git('commit', '-q', '-m', 'A small shop');
  return git;
}

/** A model server that plays the demo's script with these changes, on `port` (default: a free one) until the test ends, and the environment that leads to it. */
export async function playDemo(
  changes: ScriptSource = {},
  port = 0,
): Promise<{ models: ModelServer; env: Record<string, string> }> {
  const script = { ...(await readScript(join(demo, 'script.json'))), ...changes };
  const models = await startModelServer({ script, port });
  onTestFinished(() => models.close());
  return { models, env: { OPENAI_BASE_URL: models.url, NPC_MODEL: 'scripted' } };
}
