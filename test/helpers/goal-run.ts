import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScriptSource } from '../../testing/script.ts';
import { makeShop, playDemo } from './shop.ts';

/** What runs with `--goal` are asked for here; the demo's script does it. */
export const goal = '修复满减优惠的问题';

/** A home folder with a repository `shop` in it, git on that, and the environment of a run whose models play the demo with these changes. */
export async function goalStage() {
  const home = await mkdtemp(join(tmpdir(), 'npc-run-'));
  const repo = join(home, 'shop');
  const git = await makeShop(repo);
  const scripted = async (changes?: ScriptSource) => ({ HOME: home, ...(await playDemo(changes)).env });
  return { home, repo, git, scripted };
}
