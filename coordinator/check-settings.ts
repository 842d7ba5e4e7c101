import { type Said, said } from './said.ts';

/** One file before and after a change; undefined where it is not there. */
export interface FileChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Files that say nothing but how tests run. */
const settingsFile =
  /(^|\/)((vitest|jest|playwright|cypress|ava|karma)\.(config|conf|workspace)(\.[\w-]+)?\.\w+|vitest\.workspace\.\w+|\.mocharc(\.\w+)?|cypress\.json|pytest\.ini|tox\.ini|noxfile\.py|\.coveragerc|phpunit\.xml(\.dist)?|\.rspec|nextest\.toml)$|^\.npc\/config\.yml$/;
/** Files that hold settings of tests among other things. */
const mixedFile =
  /(^|\/)(package\.json|[mM]akefile|GNUmakefile|pyproject\.toml|setup\.cfg|vite\.config\.\w+|Cargo\.toml|pom\.xml|build\.gradle(\.kts)?)$/;
/** Words that leave tests out. */
const leavesOut = /exclude|ignore|deselect|passWithNoTests|skip|--co\b|testNamePattern|\bgrep\b|-k\s/i;

/** Whether a file may steer what the checking commands run. */
export function isSettings(path: string): boolean {
  return settingsFile.test(path) || mixedFile.test(path);
}

/** What a change does to the settings and scripts that the checking commands run by; one clause each. */
export function changedSettings(change: FileChange): Said[] {
  const { path, before, after } = change;
  if (settingsFile.test(path)) {
    if (before === undefined)
      return leavesOut.test(after ?? '')
        ? [said('新的测试设置排除了一些测试', 'new test settings leave tests out')]
        : [];
    return [
      after === undefined
        ? said('测试的设置被删除', 'the settings of the tests were deleted')
        : settingsChanged(before, after),
    ];
  }
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (before === undefined) return [];
  if (name === 'package.json') return changedScripts(before, after ?? '');
  if (/^(GNUm|m|M)akefile$/.test(name)) return changedTargets(before, after ?? '');
  if (name === 'pyproject.toml' || name === 'setup.cfg') return changedSections(before, after ?? '');
  if (/^vite\.config\.\w+$/.test(name)) return changedPart('test', viteTest(before), viteTest(after ?? ''));
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

const checkScript = /^(pre|post)?(test|tests|build|lint|check|typecheck|type-check|verify|ci|coverage)([:.-].*)?$/;

function changedScripts(before: string, after: string): Said[] {
  const [old, now] = [parseJson(before), parseJson(after)];
  const [oldScripts, nowScripts] = [group(old, 'scripts'), group(now, 'scripts')];
  const relevant = new Set(Object.keys(oldScripts).filter((name) => checkScript.test(name)));
  // Scripts that call others stand for those too.
  for (const name of relevant)
    for (const [, called] of String(oldScripts[name]).matchAll(
      /(?:\b(?:npm|pnpm|yarn|bun)(?: run)?|run-[sp]|npm-run-all[^&|;]*?)\s+([\w:.-]+)/g,
    ))
      if (called !== undefined && oldScripts[called] !== undefined) relevant.add(called);
  const found = [...relevant].flatMap((name) => {
    const [from, to] = [oldScripts[name], nowScripts[name]];
    if (from === to || /no test specified/.test(String(from))) return [];
    return [
      to === undefined
        ? said(`脚本 "${name}" 被删除`, `the script "${name}" was removed`)
        : said(
            `脚本 "${name}" 从 \`${from}\` 改成了 \`${to}\``,
            `the script "${name}" was changed from \`${from}\` to \`${to}\``,
          ),
    ];
  });
  const hooks = Object.keys(nowScripts).filter(
    (name) =>
      /^(pre|post)/.test(name) && oldScripts[name] === undefined && relevant.has(name.replace(/^(pre|post)/, '')),
  );
  const keys = ['jest', 'mocha', 'ava', 'vitest', 'tap', 'c8', 'nyc'].filter(
    (key) => old[key] !== undefined && JSON.stringify(old[key]) !== JSON.stringify(now[key]),
  );
  return [
    ...found,
    ...hooks.map((name) => {
      const main = name.replace(/^(pre|post)/, '');
      return said(`运行 "${main}" 时多了脚本 "${name}"`, `a script "${name}" now runs with "${main}"`);
    }),
    ...keys.map((key) => said(`设置 "${key}" 被修改`, `the settings "${key}" were changed`)),
  ];
}

function changedTargets(before: string, after: string): Said[] {
  const [old, now] = [readTargets(before), readTargets(after)];
  const relevant = new Set([...old.keys()].filter((name) => checkScript.test(name)));
  for (const name of relevant)
    for (const needed of (old.get(name) ?? '').split('\n')[0]?.split(/\s+/) ?? [])
      if (old.has(needed)) relevant.add(needed);
  return [...relevant]
    .filter((name) => old.get(name) !== now.get(name))
    .map((name) =>
      now.has(name)
        ? said(`\`make ${name}\` 的内容被修改`, `what \`make ${name}\` does was changed`)
        : said(`目标 ${name} 被删除`, `the target ${name} was removed`),
    );
}

/** Each target with its prerequisites (first line) and its recipe. */
function readTargets(text: string): Map<string, string> {
  const targets = new Map<string, string>();
  for (const [, name = '', needed = '', recipe = ''] of text
    .replaceAll(/\\\n\s*/g, ' ')
    .matchAll(/^([\w./-]+)[ \t]*::?(?!=)[ \t]*(.*)\n((?:\t.*\n?|[ \t]*\n(?=\t))*)/gm))
    targets.set(name, `${targets.get(name) ?? ''}${needed.trim()}\n${recipe.trimEnd()}`);
  return targets;
}

function changedSections(before: string, after: string): Said[] {
  const sections = (text: string): string =>
    text
      .split(/^(?=\[)/m)
      .filter((section) =>
        /^\[+(tool\.(pytest|coverage|tox|nox|hatch\.envs)|tool:pytest|pytest|coverage)/.test(section),
      )
      .map((section) => section.trim())
      .join('\n');
  const [old, now] = [sections(before), sections(after)];
  if (old === now || (old === '' && !leavesOut.test(now))) return [];
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

function changedPart(name: string, before: string, after: string): Said[] {
  if (before === after || (before === '' && !leavesOut.test(after))) return [];
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

function parseJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // what is no JSON runs no scripts
    return {};
  }
}

function group(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const found = value[key];
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
}
