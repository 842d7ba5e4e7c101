import { type Said, said } from './said.ts';

const checkScript = /^(pre|post)?(test|tests|build|lint|check|typecheck|type-check|verify|ci|coverage)([:.-].*)?$/;
const testScript = /^(pre|post)?(test|tests|check|verify|ci|coverage)([:.-].*)?$/;
const runners = ['jest', 'mocha', 'ava', 'vitest', 'tap', 'c8', 'nyc'];

/** Names of scripts and targets that command lines call through a package manager or make. */
export function calledNames(commands: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (const command of commands) {
    for (const [, name = ''] of command.matchAll(
      /(?:\b(?:npm|pnpm|yarn|bun)(?: run)?|run-[sp]|npm-run-all[^&|;]*?)\s+([\w:.-]+)/g,
    ))
      names.add(name);
    for (const [, words = ''] of command.matchAll(/\bmake\b([^&|;\n]*)/g))
      for (const word of words.trim().split(/\s+/)) if (/^\w[\w./-]*$/.test(word)) names.add(word);
  }
  return names;
}

/** What changed in the scripts of a `package.json` that check; `restricts` tells settings of a runner that leave tests out. */
export function changedScripts(
  before: string,
  after: string,
  called: ReadonlySet<string>,
  restricts: (settings: string) => boolean,
): Said[] {
  const [old, now] = [parseJson(before), parseJson(after)];
  const [oldScripts, nowScripts] = [group(old, 'scripts'), group(now, 'scripts')];
  const relevant = relevantScripts(oldScripts, checkScript, called);
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
  const changed = runners.filter(
    (key) => old[key] !== undefined && JSON.stringify(old[key]) !== JSON.stringify(now[key]),
  );
  const added = runners.filter(
    (key) => old[key] === undefined && now[key] !== undefined && restricts(JSON.stringify(now[key], null, 1)),
  );
  return [
    ...found,
    ...hooks.map((name) => {
      const main = name.replace(/^(pre|post)/, '');
      return said(`运行 "${main}" 时多了脚本 "${name}"`, `a script "${name}" now runs with "${main}"`);
    }),
    ...changed.map((key) => said(`设置 "${key}" 被修改`, `the settings "${key}" were changed`)),
    ...added.map((key) =>
      said(`新的设置 "${key}" 限定了运行哪些测试`, `new settings "${key}" restrict which tests run`),
    ),
  ];
}

/** The command lines of the scripts of a `package.json` or of the targets of a Makefile that test, or that `called` names. */
export function testCommands(path: string, text: string, called: ReadonlySet<string>): string[] {
  if (path.endsWith('.json')) {
    const scripts = group(parseJson(text), 'scripts');
    return [...relevantScripts(scripts, testScript, called)].map((name) => String(scripts[name]));
  }
  const targets = readTargets(text);
  const values = new Map([...text.matchAll(assignment)].map(([, name = '', value = '']) => [name, value] as const));
  return [...relevantTargets(targets, testScript, called)].flatMap((name) =>
    (targets.get(name) ?? '')
      .split('\n')
      .filter((line) => line.startsWith('\t'))
      .map((line) =>
        line
          .replace(/^\s*[@+-]*/, '')
          .replaceAll(/\$[({]([\w.-]+)[)}]/g, (whole, variable: string) => values.get(variable) ?? whole)
          .replaceAll('$$', '$'),
      ),
  );
}

function relevantScripts(scripts: Record<string, unknown>, form: RegExp, called: ReadonlySet<string>): Set<string> {
  const relevant = new Set(Object.keys(scripts).filter((name) => form.test(name) || called.has(name)));
  // Scripts that call others stand for those too.
  for (const name of relevant)
    for (const other of calledNames([String(scripts[name])])) if (scripts[other] !== undefined) relevant.add(other);
  return relevant;
}

const assignment = /^[ \t]*(?:export[ \t]+|override[ \t]+)*([\w.-]+)[ \t]*(?:::?:?|[?+!])?=[ \t]*(.*)$/gm;
/** What changes how make runs every recipe, or what its programs do. */
const steering =
  /^(SHELL|\.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|PATH|\.RECIPEPREFIX|NODE_OPTIONS|PYTEST_ADDOPTS|PYTHONPATH|GOFLAGS|LD_PRELOAD|BASH_ENV|ENV)$/;

/** What changed in the targets of a Makefile that check, the variables that they use, and what runs every recipe. */
export function changedTargets(before: string, after: string, called: ReadonlySet<string>): Said[] {
  const [old, now] = [readTargets(before), readTargets(after)];
  const relevant = relevantTargets(old, checkScript, called);
  const targets = [...relevant]
    .filter((name) => old.get(name) !== now.get(name))
    .map((name) =>
      now.has(name)
        ? said(`\`make ${name}\` 的内容被修改`, `what \`make ${name}\` does was changed`)
        : said(`目标 ${name} 被删除`, `the target ${name} was removed`),
    );
  const [oldValues, nowValues] = [readValues(before), readValues(after)];
  const used = usedVariables(
    [...relevant].map((name) => old.get(name) ?? ''),
    oldValues,
  );
  const variables = [...new Set([...oldValues.keys(), ...nowValues.keys()])].filter(
    (name) => (steering.test(name) || used.has(name)) && oldValues.get(name) !== nowValues.get(name),
  );
  return [
    ...targets,
    ...variables.map((name) =>
      said(
        `Makefile 变量 ${name} 被修改，它决定各命令运行什么`,
        `the variable ${name} of the Makefile was changed, which decides what its commands run`,
      ),
    ),
    ...['.IGNORE', '.ONESHELL', '.POSIX']
      .filter((name) => now.has(name) && now.get(name) !== old.get(name))
      .map((name) =>
        said(`新增了 ${name}，它改变命令失败时的结果`, `${name} was added, which changes what a failing command does`),
      ),
  ];
}

function relevantTargets(targets: Map<string, string>, form: RegExp, called: ReadonlySet<string>): Set<string> {
  const relevant = new Set([...targets.keys()].filter((name) => form.test(name) || called.has(name)));
  for (const name of relevant) {
    const [needed = '', ...recipe] = (targets.get(name) ?? '').split('\n');
    for (const other of [...needed.split(/\s+/), ...calledNames([recipe.join('\n').replaceAll('$(MAKE)', 'make')])])
      if (targets.has(other)) relevant.add(other);
  }
  return relevant;
}

/** Each target with its prerequisites (first line) and its recipe. */
function readTargets(text: string): Map<string, string> {
  const targets = new Map<string, string>();
  for (const [, names = '', needed = '', recipe = ''] of text
    .replaceAll(/\\\n\s*/g, ' ')
    .matchAll(/^([\w./-][\w./ -]*)::?(?![:=])[ \t]*(.*)\n?((?:\t.*\n?|[ \t]*\n(?=\t))*)/gm))
    for (const name of names.trim().split(/ +/))
      targets.set(name, `${targets.get(name) ?? ''}${needed.trim()}\n${recipe.trimEnd()}`);
  return targets;
}

/** Every variable with all that is assigned to it; recipes are left out. */
function readValues(text: string): Map<string, string> {
  const values = new Map<string, string>();
  const lines = text.replaceAll(/\\\n\s*/g, ' ').replaceAll(/^\t.*$/gm, '');
  for (const [line, name = ''] of lines.matchAll(assignment))
    values.set(name, `${values.get(name) ?? ''}${line.trim()}\n`);
  return values;
}

function usedVariables(texts: readonly string[], values: ReadonlyMap<string, string>): Set<string> {
  const used = new Set<string>();
  const read = (text: string): void => {
    for (const [, name = ''] of text.matchAll(/\$[({]([\w.-]+)/g)) if (values.has(name)) used.add(name);
  };
  for (const text of texts) read(text);
  for (const name of used) read(values.get(name) ?? '');
  return used;
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
