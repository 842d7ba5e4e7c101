import { posix } from 'node:path';
import { changedScripts, changedTargets } from './check-scripts.ts';
import type { FileChange } from './file-change.ts';
import { outcomeHooks } from './outcome-hooks.ts';
import { packageManagerFile, packageManagerSettings } from './package-settings.ts';
import { type Said, said } from './said.ts';

/** What is known of the repository before the change. */
export interface CheckedBase {
  readonly files: ReadonlySet<string>;
  /** Its files that hold tests. */
  readonly tests: readonly string[];
  /** Scripts and targets that the checking commands name. */
  readonly called: ReadonlySet<string>;
}

/** Files that say nothing but how tests run. */
const settingsFile =
  /(^|\/)((vitest|jest|playwright|cypress|ava|karma|wdio)\.(config|conf|workspace)(\.[\w-]+)?\.\w+|vitest\.workspace\.\w+|\.mocharc(\.\w+)?|\.(c8|nyc)rc(\.\w+)?|\.taprc|cypress\.json|\.?pytest\.(ini|toml)|tox\.ini|noxfile\.py|\.coveragerc|phpunit\.xml(\.dist)?|\.rspec|nextest\.toml)$|^\.npc\/(config\.yml|flow\.json)$/;
/** Files that hold settings of tests among other things. */
const mixedFile =
  /(^|\/)(package\.json|[mM]akefile|GNUmakefile|[^/]+\.mk|pyproject\.toml|setup\.cfg|vite\.config\.\w+|Cargo\.toml|pom\.xml|build\.gradle(\.kts)?|conftest\.py|[^/]+_test\.go)$/;
/** Words that leave tests out. */
const leavesOut = /exclude|ignore|deselect|passWithNoTests|skip|--co\b|testNamePattern|\bgrep\b|-k[\s=]|-m[\s=]/i;
/** Settings that say which tests run, or who runs them. */
const redirects =
  /^[ \t]*["']?(testpaths|python_(?:files|classes|functions)|norecursedirs|collect_ignore\w*)["']?\s*=|(?<![\w.])["']?(include|testMatch|testRegex|roots|rootDir|root|dir|projects|workspace|testRunner|runner|spec|files|testDir|specPattern|invert|pool|transform|moduleNameMapper|globalSetup)["']?\s*:/m;

/** Whether a file may steer what the checking commands run. */
export function isSettings(path: string): boolean {
  return settingsFile.test(path) || mixedFile.test(path) || packageManagerFile.test(path);
}

/** Whether a file has no other use, so that a request that names it asks for its change. */
export function isOnlySettings(path: string): boolean {
  return settingsFile.test(path) || packageManagerFile.test(path);
}

/** What a change does to the settings and scripts that the checking commands run by; one clause each. */
export function changedSettings(change: FileChange, base: CheckedBase): Said[] {
  const { path, before, after } = change;
  const restricts = (text: string): boolean => leavesTestsOut(text, path, base);
  if (settingsFile.test(path)) {
    if (before === undefined) return newSettings(path, after ?? '', base, restricts);
    return [
      after === undefined
        ? said('测试的设置被删除', 'the settings of the tests were deleted')
        : settingsChanged(before, after),
    ];
  }
  if (packageManagerFile.test(path)) return packageManagerSettings(change);
  const name = posix.basename(path);
  if (name === 'conftest.py' || name.endsWith('_test.go')) return outcomeHooks(change);
  if (/^(GNUm|m|M)akefile$/.test(name) && before === undefined) return frontMakefile(path, base);
  if (name === 'pyproject.toml' || name === 'setup.cfg') return changedSections(before ?? '', after ?? '', restricts);
  if (/^vite\.config\.\w+$/.test(name))
    return changedPart('test', viteTest(before ?? ''), viteTest(after ?? ''), restricts);
  if (before === undefined) return [];
  if (name === 'package.json') return changedScripts(before, after ?? '', base.called, restricts);
  if (/^(GNUm|m|M)akefile$|\.mk$/.test(name)) return changedTargets(before, after ?? '', base.called);
  if (name === 'Cargo.toml')
    return addedSkips(/^\s*(test|autotests|harness|doctest)\s*=\s*false/gm, before, after ?? '');
  if (name === 'pom.xml' || /^build\.gradle(\.kts)?$/.test(name))
    return addedSkips(
      /<skip(Tests|ITs)?>\s*true|maven\.test\.skip|testFailureIgnore|<exclude>|ignoreFailures|enabled\s*=\s*false|\bexclude\w*\b|\bonlyIf\b/g,
      before,
      after ?? '',
    );
  return [];
}

/** Settings that stand in front of others of the same runner, which then say nothing any more. */
const families = [
  /(^|\/)\.?pytest\.(ini|toml)$/,
  /(^|\/)(vitest|vite)\.config\.\w+$/,
  /(^|\/)jest\.config\.\w+$/,
  /(^|\/)\.mocharc(\.\w+)?$/,
];

function newSettings(path: string, after: string, base: CheckedBase, restricts: (text: string) => boolean): Said[] {
  if (path.startsWith('.npc/'))
    return [said('新增了决定检查如何运行的设置', 'new settings decide what the checks run from now on')];
  if (restricts(after)) return [said('新的测试设置排除了一些测试', 'new test settings leave tests out')];
  const family = families.find((form) => form.test(path));
  const folder = posix.dirname(path);
  // a first vitest.config takes the place of vite.config only when that one was there
  const hidden = family && [...base.files].find((other) => family.test(other) && posix.dirname(other) === folder);
  return hidden !== undefined && base.tests.length > 0
    ? [said(`新的测试设置取代了 ${hidden}`, `new test settings take the place of ${hidden}`)]
    : [];
}

function frontMakefile(path: string, base: CheckedBase): Said[] {
  const order = ['GNUmakefile', 'makefile', 'Makefile'];
  const behind = order
    .slice(order.indexOf(posix.basename(path)) + 1)
    .map((name) => posix.join(posix.dirname(path), name))
    .find((other) => base.files.has(other));
  return behind === undefined ? [] : [said(`make 会用它取代 ${behind}`, `make reads it in place of ${behind}`)];
}

/** Whether new settings keep tests of the base from running. What they say of coverage does not. */
function leavesTestsOut(text: string, path: string, base: CheckedBase): boolean {
  if (base.tests.length === 0) return false;
  const plain = text
    .replaceAll(/\/\*[\s\S]*?\*\/|^[ \t]*(#|\/\/|;).*$/gm, '')
    .replaceAll(/["']?coverage["']?\s*:\s*\{[^{}]*\}/g, '')
    .replaceAll(
      /["']?\w*(coverage|transformIgnore|watchPathIgnore|modulePathIgnore)\w*["']?\s*:\s*(\[[^\]]*\]|[^\n,]*)/gi,
      '',
    );
  const folder = posix.dirname(path);
  const named = /^[ \t]*testpaths[ \t]*=[ \t]*(\[[^\]]*\]|.*(?:\n[ \t]+.*)*)/m.exec(plain)?.[1] ?? '';
  const paths = named.split(/[\s,"'[\]]+/).filter((part) => part !== '');
  const python = base.tests.filter((file) => file.endsWith('.py'));
  const all = paths.length > 0 && python.every((file) => paths.some((part) => within(file, posix.join(folder, part))));
  const rest = all ? plain.replace(/^[ \t]*testpaths[ \t]*=/m, '') : plain;
  return leavesOut.test(rest) || redirects.test(rest);
}

function within(file: string, folder: string): boolean {
  const plain = folder.replace(/\/$/, '');
  return plain === '.' || file === plain || file.startsWith(`${plain}/`);
}

function changedSections(before: string, after: string, restricts: (text: string) => boolean): Said[] {
  const sections = (text: string): string =>
    text
      .split(/^(?=\[)/m)
      .filter((section) =>
        /^\[+(tool\.(pytest|coverage|tox|nox|hatch\.envs)|tool:pytest|pytest|coverage)/.test(section),
      )
      .map((section) => section.trim())
      .join('\n');
  const [old, now] = [sections(before), sections(after)];
  if (old === now || (old === '' && !restricts(now))) return [];
  return [settingsChanged(old, now)];
}

/** The object behind `test:` in a Vite configuration. */
function viteTest(text: string): string {
  const start = text.search(/\btest\s*:\s*\{/);
  if (start === -1) return '';
  let depth = 0;
  for (let at = text.indexOf('{', start); at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}' && --depth === 0) return text.slice(start, at + 1);
  }
  return text.slice(start);
}

function changedPart(name: string, before: string, after: string, restricts: (text: string) => boolean): Said[] {
  if (before === after || (before === '' && !restricts(after))) return [];
  const { 'zh-CN': zh, en } = firstDifference(before, after);
  return [said(`设置 "${name}" 被修改：${zh}`, `the settings "${name}" were changed: ${en}`)];
}

function addedSkips(form: RegExp, before: string, after: string): Said[] {
  const [old, now] = [[...before.matchAll(form)], [...after.matchAll(form)]];
  const added = now.find(
    ([text]) => now.filter(([other]) => other === text).length > old.filter(([other]) => other === text).length,
  );
  if (!added) return [];
  const text = `\`${added[0].trim()}\``;
  return [
    said(
      `一些测试被排除，或其失败被忽略：新增了 ${text}`,
      `tests are left out or their failures ignored: ${text} was added`,
    ),
  ];
}

function settingsChanged(before: string, after: string): Said {
  const { 'zh-CN': zh, en } = firstDifference(before, after);
  return said(`测试的设置被修改：${zh}`, `the settings of the tests were changed: ${en}`);
}

function firstDifference(before: string, after: string): Said {
  const lines = new Set(before.split('\n').map((line) => line.trim()));
  const added = after
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '' && !lines.has(line));
  const left = new Set(after.split('\n').map((line) => line.trim()));
  const removed = before
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '' && !left.has(line));
  const cut = (line: string): string => `\`${line.slice(0, 120)}\``;
  if (added !== undefined) return said(`新增了 ${cut(added)}`, `${cut(added)} was added`);
  return removed === undefined
    ? said('行被移动', 'lines were moved')
    : said(`删除了 ${cut(removed)}`, `${cut(removed)} was removed`);
}
