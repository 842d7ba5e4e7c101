import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitOptions, GitResult } from './git.ts';
import type { Repository } from './repository.ts';

/** An entry that differs: its mode and blob before and after, `undefined` where there is none. */
export interface Entry {
  /** Bytes of the path, one character each: paths need not be UTF-8. */
  readonly path: string;
  readonly before?: { readonly mode: string; readonly blob: string };
  readonly after?: { readonly mode: string; readonly blob: string };
}

/** An index of our own over somebody's work tree; what that tree's own index, HEAD and configuration say plays no part. */
export interface Staging {
  /** Tracked entries that differ in the work tree (`blob` of `after` means nothing yet), and untracked paths that are not ignored. */
  changes(): Promise<{ tracked: Entry[]; untracked: string[] }>;
  /** Takes these paths over from the work tree, deletions too. */
  stage(paths: readonly string[]): Promise<void>;
  /** What is staged, against the start. */
  staged(): Promise<Entry[]>;
  /** Puts entries back to what they were at the start. */
  unstage(entries: readonly Entry[]): Promise<void>;
  /** Writes the tree and returns its id. */
  write(): Promise<string>;
}

const NOTHING = /^0+$/;

/** Runs `work` with a staging area that starts at a commit. */
export async function withStaging<T>(
  options: { readonly repository: Repository; readonly tree: string; readonly startSha: string },
  work: (staging: Staging) => Promise<T>,
): Promise<T> {
  const { repository, tree, startSha } = options;
  const folder = await mkdtemp(join(repository.stateDir, 'index-'));
  const run = (args: readonly string[], rest: Partial<GitOptions> = {}): Promise<GitResult> =>
    repository.git(args, {
      cwd: tree,
      encoding: 'latin1',
      doing: 'collect the changes of a work tree',
      timeoutMs: 600_000,
      ...rest,
      env: { GIT_WORK_TREE: tree, GIT_INDEX_FILE: join(folder, 'index') },
    });
  const list = (paths: readonly string[]): Buffer => Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
  try {
    await run(['read-tree', startSha]);
    return await work({
      async changes() {
        await run(['update-index', '-q', '--refresh'], { okExits: [0, 1] });
        const tracked = await run(['diff-files', '--raw', '-z', '--no-ext-diff', '--ignore-submodules=dirty']);
        const untracked = await run(['ls-files', '-z', '--others', '--exclude-standard']);
        return {
          tracked: readEntries(tracked.stdout),
          untracked: untracked.stdout.split('\0').filter((path) => path !== ''),
        };
      },
      async stage(paths) {
        await run(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], { input: list(paths) });
      },
      async staged() {
        return readEntries(
          (await run(['diff-index', '--cached', '--raw', '-z', '--no-ext-diff', '--no-renames', startSha])).stdout,
        );
      },
      async unstage(entries) {
        const gone = '0'.repeat(startSha.length);
        const lines = entries.map(({ path, before }) => `${before?.mode ?? '0'} ${before?.blob ?? gone}\t${path}`);
        await run(['update-index', '-z', '--index-info'], { input: list(lines) });
      },
      write: async () => (await run(['write-tree'])).stdout.trim(),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The contents of blobs, in order, read in portions that fit into memory. */
export async function* readBlobs(repository: Repository, blobs: readonly string[]): AsyncGenerator<Buffer> {
  const portion = 24 * 1024 * 1024;
  const ask = (mode: string, names: readonly string[]) =>
    repository.git(['cat-file', mode], { input: names.map((name) => `${name}\n`).join(''), encoding: 'latin1' });
  const sizes = (await ask('--batch-check', blobs)).stdout.split('\n').map((line) => Number(line.split(' ')[2]));
  for (let at = 0; at < blobs.length; ) {
    let total = 0;
    let end = at;
    while (end < blobs.length && (end === at || total + (sizes[end] ?? 0) <= portion)) total += sizes[end++] ?? 0;
    const { stdout } = await ask('--batch', blobs.slice(at, end));
    let position = 0;
    for (; at < end; at += 1) {
      const start = stdout.indexOf('\n', position) + 1;
      position = start + (sizes[at] ?? 0) + 1;
      yield Buffer.from(stdout.slice(start, position - 1), 'latin1');
    }
  }
}

function readEntries(raw: string): Entry[] {
  return [...raw.matchAll(/:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) \w+\0([^\0]+)\0/g)].map(
    ([, oldMode = '', newMode = '', oldBlob = '', newBlob = '', path = '']) => ({
      path,
      ...(!NOTHING.test(oldMode) && { before: { mode: oldMode, blob: oldBlob } }),
      ...(!NOTHING.test(newMode) && { after: { mode: newMode, blob: newBlob } }),
    }),
  );
}
