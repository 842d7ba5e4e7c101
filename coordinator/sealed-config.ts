import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Folders and files that tools leave behind and that no project commits. A repository without a `.gitignore` would otherwise have them
 * in every commit; files of these names that it tracks stay tracked.
 */
const EXCLUDED = [
  'node_modules/',
  '.venv/',
  '__pycache__/',
  '*.pyc',
  '.pytest_cache/',
  '.mypy_cache/',
  '.ruff_cache/',
  '.tox/',
  '.gradle/',
];

/** The configuration of the run's repository, kept as it was made: a command that runs in a work tree can write to it. */
export interface SealedConfig {
  /** Puts the configuration back if it was changed; true when it was. */
  restore(): Promise<boolean>;
}

/** Seals a new repository: its configuration is copied to `copy`, from where it is restored. */
export async function sealConfig(gitDir: string, copy: string): Promise<void> {
  await writeFile(copy, await readFile(join(gitDir, 'config')));
}

/** The seal of a repository made earlier. Filters, hooks, aliases and remotes that a command configured never reach our own git. */
export async function openSeal(gitDir: string, copy: string): Promise<SealedConfig> {
  const sealed = await readFile(copy, 'utf8');
  const exclude = `${EXCLUDED.join('\n')}\n`;
  const put = async (path: string, content: string): Promise<boolean> => {
    if ((await readFile(path, 'utf8').catch(() => undefined)) === content) return false;
    await writeFile(path, content);
    return true;
  };
  return {
    async restore() {
      const changed = await put(join(gitDir, 'config'), sealed);
      await rm(join(gitDir, 'config.worktree'), { force: true });
      await rm(join(gitDir, 'info', 'attributes'), { force: true });
      await rm(join(gitDir, 'info', 'grafts'), { force: true });
      await rm(join(gitDir, 'refs', 'replace'), { recursive: true, force: true });
      await put(join(gitDir, 'info', 'exclude'), exclude);
      return changed;
    },
  };
}
