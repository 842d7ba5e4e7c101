import { appendFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';

/** Settings of people and machine stay out of the server's own git calls. */
const quiet = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'CNB',
  GIT_AUTHOR_EMAIL: 'noreply@cnb.invalid',
  GIT_COMMITTER_NAME: 'CNB',
  GIT_COMMITTER_EMAIL: 'noreply@cnb.invalid',
};

/** Runs git in `folder` and returns its output without the last line feed. */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execa('git', ['-c', 'core.quotePath=false', ...args], { cwd: folder, env: quiet });
  return stdout;
}

/** Like {@link git}; undefined when git fails. */
export async function tryGit(folder: string, ...args: readonly string[]): Promise<string | undefined> {
  try {
    return await git(folder, ...args);
  } catch {
    return undefined;
  }
}

/** One ref that a push moved. */
export interface Push {
  readonly user: string;
  readonly ref: string;
  /** Forty zeros for a new ref. */
  readonly before: string;
  /** Forty zeros for a deleted ref. */
  readonly after: string;
  /** Push options, such as `ci.skip`. */
  readonly options: readonly string[];
}

const guard = `#!/bin/sh
while read -r before after ref; do
  for branch in $(git config --get-all cnb.protected); do
    if [ "$ref" = "refs/heads/$branch" ]; then
      echo "the branch $branch is protected" >&2
      exit 1
    fi
  done
done
`;

const record = `#!/bin/sh
options=
i=0
while [ "$i" -lt "\${GIT_PUSH_OPTION_COUNT:-0}" ]; do
  eval "options=\\"\\$options\\$GIT_PUSH_OPTION_$i \\""
  i=$((i + 1))
done
while read -r before after ref; do
  printf '%s\\t%s\\t%s\\t%s\\t%s\\n' "$REMOTE_USER" "$before" "$after" "$ref" "$options" >> pushes.log
done
`;

/** Makes a bare repository at `folder`: with the history of `source` when that is a git work tree, else with its files in a first commit. */
export async function createBare(
  folder: string,
  source: string | Readonly<Record<string, string>>,
  branch: string,
): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const prefix = typeof source === 'string' ? await tryGit(source, 'rev-parse', '--show-prefix', 'HEAD') : undefined;
  if (typeof source === 'string' && prefix?.startsWith('\n')) {
    await git(dirname(folder), 'clone', '-q', '--bare', '--no-hardlinks', source, folder);
    await git(folder, 'update-ref', `refs/heads/${branch}`, 'HEAD');
    await git(folder, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`);
  } else {
    await git(dirname(folder), 'init', '-q', '--bare', '-b', branch, folder);
    await firstCommit(folder, source);
  }
  await configure(folder);
}

/** Makes `folder` a fork: a bare copy with the same history. */
export async function createFork(folder: string, origin: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  await git(dirname(folder), 'clone', '-q', '--bare', origin, folder);
  await configure(folder);
}

const settings = `[http]
\treceivepack = true
[receive]
\tadvertisePushOptions = true
[transfer]
\thideRefs = refs/pull
`;

async function configure(folder: string): Promise<void> {
  await appendFile(join(folder, 'config'), settings);
  await mkdir(join(folder, 'hooks'), { recursive: true });
  await writeFile(join(folder, 'hooks/pre-receive'), guard, { mode: 0o755 });
  await writeFile(join(folder, 'hooks/post-receive'), record, { mode: 0o755 });
}

async function firstCommit(folder: string, source: string | Readonly<Record<string, string>>): Promise<void> {
  const tree = await mkdtemp(join(tmpdir(), 'cnb-tree-'));
  try {
    if (typeof source === 'string') {
      await cp(source, tree, { recursive: true, filter: (path) => !/(^|\/)(\.git|node_modules)$/.test(path) });
    } else await writeFiles(tree, source);
    const at = [`--git-dir=${folder}`, `--work-tree=${tree}`];
    await git(tree, ...at, 'add', '-A');
    await git(tree, ...at, 'commit', '-q', '--allow-empty', '-m', 'First commit');
    await rm(join(folder, 'index'), { force: true });
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

async function writeFiles(tree: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), text);
  }
}

/** Adds one commit with these files to a branch (made from the default branch when new); returns its sha. */
export async function commitFiles(
  folder: string,
  change: { readonly branch: string; readonly files: Readonly<Record<string, string>>; readonly message: string },
): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'cnb-tree-'));
  try {
    await git(tree, 'clone', '-q', folder, '.');
    const known = await tryGit(tree, 'rev-parse', '-q', '--verify', `origin/${change.branch}`);
    await git(tree, 'checkout', '-q', '-B', change.branch, known ?? 'HEAD');
    await writeFiles(tree, change.files);
    await git(tree, 'add', '-A');
    await git(tree, 'commit', '-q', '--allow-empty', '-m', change.message);
    // Past the hooks: this is the test's own hand, not a user's push.
    await git(folder, 'fetch', '-q', tree, `+HEAD:refs/heads/${change.branch}`);
    return await git(tree, 'rev-parse', 'HEAD');
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/** Every ref that was pushed over HTTP, oldest first. */
export async function readPushes(folder: string): Promise<readonly Push[]> {
  const text = await readFile(join(folder, 'pushes.log'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [user = '', before = '', after = '', ref = '', options = ''] = line.split('\t');
      return { user, before, after, ref, options: options.split(' ').filter(Boolean) };
    });
}

/** Merges without a work tree; undefined on a conflict. */
export async function mergeCommit(
  folder: string,
  merge: {
    readonly base: string;
    readonly head: string;
    readonly message: string;
    readonly parents?: readonly string[];
  },
): Promise<string | undefined> {
  const tree = await tryGit(folder, 'merge-tree', '--write-tree', merge.base, merge.head);
  if (tree === undefined) return undefined;
  const parents = (merge.parents ?? [merge.base, merge.head]).flatMap((parent) => ['-p', parent]);
  return git(folder, 'commit-tree', tree.split('\n')[0] ?? '', ...parents, '-m', merge.message);
}

/** Checks the commit out in a new clone whose `origin` is `url`: a branch by name, or detached. */
export async function checkOut(
  folder: string,
  at: { readonly workspace: string; readonly url: string; readonly sha: string; readonly branch?: string },
): Promise<void> {
  await mkdir(dirname(at.workspace), { recursive: true });
  await git(dirname(at.workspace), 'clone', '-q', '--no-checkout', '--local', folder, at.workspace);
  const config = await readFile(join(at.workspace, '.git/config'), 'utf8');
  await writeFile(join(at.workspace, '.git/config'), config.replace(`url = ${folder}`, `url = ${at.url}`));
  await git(at.workspace, 'checkout', '-q', ...(at.branch === undefined ? ['--detach'] : ['-B', at.branch]), at.sha);
}
