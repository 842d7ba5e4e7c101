import { AppError } from '../base/errors.ts';
import type { Repository } from './repository.ts';

/** A commit of the work, and the node of the flow that it belongs to. */
export interface NodeCommit {
  readonly node: string;
  readonly sha: string;
  readonly message: string;
}

/**
 * The chain that is delivered: one commit for each node, linear on `base`. Commits of one node that follow each other become one, with
 * the tree, author and dates of the last and its message; a node that changes nothing in the end gets none. The same input gives the
 * same commit. Returns the head, which is `base` when nothing is left.
 */
export async function buildCandidate(
  repository: Repository,
  work: { readonly base: string; readonly commits: readonly NodeCommit[] },
): Promise<string> {
  const last = work.commits.filter((commit, index) => work.commits[index + 1]?.node !== commit.node);
  let head = work.base;
  for (const commit of last) {
    const { exit } = await repository.git(['merge-base', '--is-ancestor', work.base, commit.sha], { okExits: [0, 1] });
    if (exit !== 0)
      throw new AppError('internal', `${commit.sha} of ${commit.node} does not come from the base ${work.base}`);
    head = await append(repository, head, commit);
  }
  if (head !== work.base) await repository.git(['update-ref', `refs/npc/commits/${head}`, head]);
  return head;
}

async function append(repository: Repository, head: string, commit: NodeCommit): Promise<string> {
  const format = ['%T', '%an', '%ae', '%at', '%cn', '%ce', '%ct'].join('%x00');
  const { stdout } = await repository.git(['show', '-s', `--format=${format}`, commit.sha]);
  const [tree = '', author = '', authorMail = '', authored = '', committer = '', committerMail = '', committed = ''] =
    stdout.trimEnd().split('\0');
  if (tree === (await repository.git(['rev-parse', `${head}^{tree}`])).stdout.trim()) return head;
  const { stdout: sha } = await repository.git(['commit-tree', tree, '-p', head], {
    input: repository.masker.mask(commit.message),
    env: {
      GIT_AUTHOR_NAME: author,
      GIT_AUTHOR_EMAIL: authorMail,
      GIT_AUTHOR_DATE: `${authored} +0000`,
      GIT_COMMITTER_NAME: committer,
      GIT_COMMITTER_EMAIL: committerMail,
      GIT_COMMITTER_DATE: `${committed} +0000`,
    },
  });
  return sha.trim();
}
