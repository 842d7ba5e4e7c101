import { changedSettings, type FileChange, isSettings } from './check-settings.ts';
import { changedFiles } from './diff.ts';
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
 * more, fewer assertions that can fail, new skips, other scripts and settings. A case that only moved or was only renamed is none.
 */
export async function weakenedTests(
  repository: Repository,
  change: { readonly base: string; readonly sha: string },
): Promise<WeakenedTest[]> {
  const files = await changedFiles(repository, change.base, change.sha);
  const changes: FileChange[] = [];
  for (const { path, status, from } of files) {
    if (!isOfInterest(path) && !(from && isOfInterest(from))) continue;
    // A renamed test that is no test any more counts as one that went.
    const renamed = from !== undefined && isOfInterest(from) && !isOfInterest(path);
    changes.push({
      path: renamed ? from : path,
      before: status === 'added' ? undefined : await repository.show(change.base, from ?? path),
      after: status === 'deleted' || renamed ? undefined : await repository.show(change.sha, path),
    });
  }
  return findWeakened(changes);
}

function isOfInterest(path: string): boolean {
  return readTests(path, '') !== undefined || isOtherTest(path) || isSettings(path);
}

interface Compared extends FileChange {
  readonly old: TestContent;
  readonly now: TestContent;
}

const NONE: TestContent = { titles: [], assertions: 0, skips: [] };

/** The same, for changes whose texts are at hand. */
export function findWeakened(changes: readonly FileChange[]): WeakenedTest[] {
  const settings = changes.flatMap((change) =>
    changedSettings(change).map((reason) => ({ path: change.path, reason })),
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
