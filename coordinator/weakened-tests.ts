import { changedCalled } from './called-change.ts';
import { calledFiles } from './called-files.ts';
import { type CheckedBase, changedSettings, isOnlySettings, isSettings } from './check-settings.ts';
import { changedFiles } from './diff.ts';
import type { FileChange } from './file-change.ts';
import type { Repository } from './repository.ts';
import { type Said, said } from './said.ts';
import { isOtherTest, readTests, type TestContent } from './test-languages.ts';

/** One way in which a change makes the checks say less. `reason` is one clause. */
export interface WeakenedTest {
  readonly path: string;
  readonly reason: Said;
}

/**
 * What in a change removes or weakens tests, or edits what the checking commands run: deleted test files, cases that are nowhere any
 * more, fewer assertions that can fail, new skips, other scripts and settings. A case that only moved or was only renamed is none, and
 * neither are settings or scripts whose change `request` asks for by their name.
 */
export async function weakenedTests(
  repository: Repository,
  change: {
    readonly base: string;
    readonly sha: string;
    /** Command lines of the checks. */
    readonly commands?: readonly string[];
    readonly request?: string;
  },
): Promise<WeakenedTest[]> {
  const changed = await changedFiles(repository, change.base, change.sha);
  if (changed.length === 0) return [];
  const base = await readBase(repository, change.base, change.commands ?? []);
  const isOfInterest = (path: string): boolean =>
    readTests(path, '') !== undefined || isOtherTest(path) || isSettings(path) || base.run.has(path);
  const changes: FileChange[] = [];
  for (const { path, status, from } of changed) {
    if (!isOfInterest(path) && !(from && isOfInterest(from))) continue;
    const before = status === 'added' ? undefined : await repository.show(change.base, from ?? path);
    const after = status === 'deleted' ? undefined : await repository.show(change.sha, path);
    // Settings and scripts work by their path alone, and a renamed test that is no test any more counts as one that went.
    const fixed = (one: string): boolean => (isSettings(one) && !mixed(one)) || base.run.has(one);
    if (from !== undefined && (!isOfInterest(path) || fixed(from) || fixed(path)))
      changes.push({ path: from, before, after: undefined }, { path, before: undefined, after });
    else changes.push({ path, before, after });
  }
  const asked = (path: string): boolean =>
    (isOnlySettings(path) || (base.run.has(path) && !mixed(path))) && asksFor(change.request ?? '', path);
  return findWeakened(changes, base).filter(({ path }) => !asked(path));
}

interface Base extends CheckedBase {
  /** Files that the checks run, each with the command that does it. */
  readonly run: ReadonlyMap<string, string>;
}

async function readBase(repository: Repository, sha: string, commands: readonly string[]): Promise<Base> {
  const { stdout } = await repository.git(['ls-tree', '-r', '-z', '--name-only', sha]);
  const files = new Set(stdout.split('\0').filter((path) => path !== ''));
  const { names, files: run } = await calledFiles({ files, show: (path) => repository.show(sha, path) }, commands);
  const tests = [...files].filter(
    (path) => isOtherTest(path) || (!path.endsWith('.rs') && readTests(path, '') !== undefined),
  );
  return { files, tests, called: names, run };
}

/** A repository with tests, of which no more is known. */
const SOME_BASE: Base = { files: new Set(), tests: ['tests'], called: new Set(), run: new Map() };

function mixed(path: string): boolean {
  return readTests(path, '') !== undefined || isOtherTest(path);
}

/** Whether a request asks for a file's change: a word of change, and the file's name after it in the same sentence. */
function asksFor(request: string, path: string): boolean {
  const name = path.slice(path.startsWith('.npc/') ? 0 : path.lastIndexOf('/') + 1);
  const verb =
    /\b(add|adjust|change|create|delete|edit|extend|fix|modify|put|remove|rename|replace|rewrite|set|update|write)\b|添加|增加|新增|修改|更新|改|删除|设置|修复|重写|创建/i;
  return request.split(/[。！？\n]|[.!?;](?=\s|$)/).some((sentence) => {
    const at = sentence.indexOf(name);
    return at !== -1 && verb.test(/\p{Script=Han}/u.test(sentence) ? sentence : sentence.slice(0, at));
  });
}

interface Compared extends FileChange {
  readonly old: TestContent;
  readonly now: TestContent;
}

const NONE: TestContent = { titles: [], assertions: 0, skips: [] };

/** The same, for changes whose texts are at hand. */
export function findWeakened(changes: readonly FileChange[], base: Base = SOME_BASE): WeakenedTest[] {
  const settings = changes.flatMap((change) =>
    [...changedSettings(change, base), ...changedCalled(change, base.run.get(change.path))].map((reason) => ({
      path: change.path,
      reason,
    })),
  );
  const others = changes.filter(({ path }) => isOtherTest(path)).flatMap(goneOrEmptied);
  const tests = changes.flatMap((change): Compared[] => {
    const old = change.before === undefined ? NONE : readTests(change.path, change.before);
    const now = change.after === undefined ? NONE : readTests(change.path, change.after);
    return old && now ? [{ ...change, old, now }] : [];
  });
  const arrived = tally(tests.flatMap(({ old, now }) => without(now.titles, old.titles)));
  const moreSkips = sum(tests, ({ now }) => now.skips.length) > sum(tests, ({ old }) => old.skips.length);
  return [...settings, ...others, ...tests.flatMap((test) => compare(test, arrived, moreSkips))];
}

function compare(
  { path, old, now, after }: Compared,
  arrived: Map<string, number>,
  moreSkips: boolean,
): WeakenedTest[] {
  const found: WeakenedTest[] = [];
  const gone = without(old.titles, now.titles);
  // A title that turned up in another file moved there.
  const lost = gone.filter((title) => !take(arrived, title));
  const fresh = without(now.titles, old.titles);
  const renamed = lost.length <= fresh.length && now.assertions >= old.assertions;
  if (lost.length > 0 && !renamed) {
    const names = lost
      .slice(0, 5)
      .map((title) => `"${title}"`)
      .join(', ');
    const more = lost.length - 5;
    const zh = more > 0 ? `${names} 等 ${lost.length} 个` : names;
    const en = more > 0 ? `${names} and ${more} more` : names;
    const reason =
      after === undefined
        ? said(`测试文件被删除，其中有 ${zh}`, `the test file was deleted, with ${en}`)
        : said(`测试用例被删除：${zh}`, `test cases were removed: ${en}`);
    found.push({ path, reason });
  } else if (now.assertions < old.assertions && gone.length === lost.length)
    found.push({
      path,
      reason:
        after === undefined
          ? said('含有断言的文件被删除', 'a file with assertions was deleted')
          : said(
              `${old.assertions - now.assertions} 条可能失败的断言被删除`,
              `${old.assertions - now.assertions} assertion(s) that could fail were removed`,
            ),
    });
  const skipped = without(now.skips, old.skips);
  if (moreSkips && skipped.length > 0 && now.skips.length > old.skips.length)
    found.push({
      path,
      reason: said(`测试被跳过：新增了 \`${skipped[0]}\``, `tests are kept from running: \`${skipped[0]}\` was added`),
    });
  return found;
}

function goneOrEmptied({ path, before, after }: FileChange): WeakenedTest[] {
  if (before === undefined || before.trim() === '') return [];
  if (after === undefined) return [{ path, reason: said('测试文件被删除', 'the test file was deleted') }];
  const emptied = after.trim().length * 10 < before.trim().length;
  return emptied ? [{ path, reason: said('测试文件被清空', 'the test file was emptied') }] : [];
}

/** The entries of `all` that are left when each of `taken` was taken out once. */
function without(all: readonly string[], taken: readonly string[]): string[] {
  const left = tally(taken);
  return all.filter((entry) => !take(left, entry));
}

function tally(entries: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(entry, (counts.get(entry) ?? 0) + 1);
  return counts;
}

function take(counts: Map<string, number>, entry: string): boolean {
  const count = counts.get(entry) ?? 0;
  if (count > 0) counts.set(entry, count - 1);
  return count > 0;
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
