import type { Repository } from './repository.ts';

export interface ChangedFile {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed';
  /** The earlier path of a renamed file. */
  readonly from?: string;
}

const statuses: Readonly<Record<string, ChangedFile['status']>> = { A: 'added', D: 'deleted', R: 'renamed' };

/** The files that differ between two commits (or trees), renames found. */
export async function changedFiles(repository: Repository, base: string, sha: string): Promise<ChangedFile[]> {
  const { stdout } = await repository.git(['diff-tree', '-r', '-z', '-M', '--no-ext-diff', '--name-status', base, sha]);
  const fields = stdout.split('\0');
  const files: ChangedFile[] = [];
  for (let at = 0; at + 1 < fields.length; ) {
    const letter = fields[at]?.[0] ?? '';
    const [first = '', second = ''] = [fields[at + 1], fields[at + 2]];
    if (letter === 'R') files.push({ path: second, status: 'renamed', from: first });
    else files.push({ path: first, status: statuses[letter] ?? 'modified' });
    at += letter === 'R' ? 3 : 2;
  }
  return files;
}

/**
 * The change between two commits as a unified diff of at most about `maxCharacters` (default 60,000). When it does not fit, every file
 * keeps its beginning and says how much of it was cut, so that one lock file does not hide the rest.
 */
export async function diffText(
  repository: Repository,
  base: string,
  sha: string,
  maxCharacters = 60_000,
): Promise<string> {
  const { stdout } = await repository.git([
    'diff-tree',
    '-r',
    '-p',
    '-M',
    '--no-color',
    '--no-ext-diff',
    '--no-textconv',
    base,
    sha,
  ]);
  if (stdout.length <= maxCharacters) return stdout;
  const files = stdout.split(/^(?=diff --git )/m);
  const share = fairShare(
    files.map((file) => file.length),
    maxCharacters,
  );
  return files.map((file) => (file.length <= share ? file : cut(file, share))).join('');
}

/** The most that each part may keep, so that together they fit: small ones stay whole and leave their rest to the others. */
function fairShare(lengths: readonly number[], most: number): number {
  let left = most;
  const sorted = lengths.toSorted((a, b) => a - b);
  for (const [index, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index));
    if (length > share) return share;
    left -= length;
  }
  return left;
}

function cut(file: string, most: number): string {
  const end = file.lastIndexOf('\n', Math.max(most - 80, 0)) + 1 || Math.min(file.indexOf('\n') + 1, most);
  const lines = file.slice(end).split('\n').length - 1;
  return `${file.slice(0, end)}[${lines} more lines of this file's diff were cut]\n`;
}

const documents =
  /\.(md|markdown|mdown|rst|adoc|asciidoc|org)$|(^|\/)(LICEN[CS]E|NOTICE|AUTHORS|CONTRIBUTORS|CHANGELOG|CHANGES|COPYING|README|HISTORY)(\.txt)?$/i;
const inDocuments = /^(.*\/)?(docs?|documentation)\/.*\.(txt|png|jpe?g|gif|svg|webp|pdf|drawio|puml|mmd)$/i;
const inTests = /(^|\/)(tests?|__tests__|spec|testdata|fixtures|__fixtures__|__snapshots__)\//i;

/** Whether a change touches documents alone, so that it needs no test. Texts below a tests folder are data of tests. */
export function docsOnly(files: readonly string[]): boolean {
  return (
    files.length > 0 && files.every((path) => (documents.test(path) || inDocuments.test(path)) && !inTests.test(path))
  );
}
