import { execFile } from 'node:child_process';
import { basename, resolve } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { Trigger } from '../../coordinator/trigger.ts';

const run = promisify(execFile);

/** The trigger of `run --goal`. Throws `AppError('usage')` when `repo` is no git work tree with a commit. */
export async function goalTrigger(goal: string, repo: string, language: 'zh-CN' | 'en'): Promise<Trigger> {
  const folder = resolve(repo);
  const git = async (...args: string[]) => (await run('git', ['-C', folder, ...args])).stdout.trim();
  const workspace = await git('rev-parse', '--show-toplevel').catch((error) => {
    const why = error.code === 'ENOENT' ? 'git is not installed' : `${folder} is no git work tree`;
    throw new AppError('usage', `${why}: name one with --repo DIR, or make one with git init and a first commit`, {
      cause: error,
    });
  });
  await git('rev-parse', '--verify', 'HEAD^{commit}').catch((error) => {
    throw new AppError('usage', `${workspace} has no commit yet: make one, it is what the work starts from`, {
      cause: error,
    });
  });
  // a detached HEAD has no branch; the commit stands for it
  const baseBranch = await git('symbolic-ref', '--short', '-q', 'HEAD').catch(() => 'HEAD');
  return {
    request: goal.trim(),
    language,
    actor: basename(workspace),
    role: 'Agent',
    workMode: true,
    workspace,
    baseBranch,
    isRetry: false,
  };
}
