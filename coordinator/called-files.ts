import { posix } from 'node:path';
import { calledNames, testCommands } from './check-scripts.ts';
import { simpleCommands } from './shell-words.ts';

/** A commit, as far as this needs it. */
export interface BaseFiles {
  /** Every path in it. */
  readonly files: ReadonlySet<string>;
  show(path: string): Promise<string | undefined>;
}

/** What a repository's checks run. */
export interface Called {
  /** Scripts and targets that the commands name. */
  readonly names: ReadonlySet<string>;
  /** Files that are run, each with the command that does it. */
  readonly files: ReadonlyMap<string, string>;
}

const MOST_FILES = 50;
/** Nearest to the root first. */
const MOST_CALLERS = 100;
const interpreter =
  /^((ba|da|k|z)?sh|node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy3?|ruby|perl|php|lua|source|\.|Rscript)$/;
const wrapper =
  /^(env|exec|time|nohup|nice|timeout|stdbuf|xvfb-run|sudo|command|cross-env|npx|pnpx|bunx|uv|poetry|pipenv|pdm|hatch|rye|coverage|c8|nyc|dotenv|go|run|dlx|call|\[|\(|@)$/;
const runner =
  /^(vitest|jest|mocha|ava|tap|c8|nyc|karma|playwright|cypress|pytest|py\.test|tox|nox|phpunit|rspec|eslint)$/;
/** Options of interpreters and runners whose value is a file that decides what happens. */
const fileOption = /^(-r|--require|--import|--loader|--experimental-loader|-c|--config|--config-file|--rootdir)$/;

/**
 * The files at the base that the checks run: scripts that `commands`, test scripts of package.json files and test targets of Makefiles
 * call, and those that such shell scripts call. Product code that a command runs is none, and neither is a folder.
 */
export async function calledFiles(base: BaseFiles, commands: readonly string[]): Promise<Called> {
  const names = calledNames(commands);
  const files = new Map<string, string>();
  const add = (found: readonly string[], command: string): void => {
    for (const path of found)
      if (base.files.has(path) && !isProduct(path) && !files.has(path) && files.size < MOST_FILES)
        files.set(path, command);
  };
  for (const command of commands) add(runFiles(command, ['']), command);
  const depth = (path: string): number => path.split('/').length;
  const callers = [...base.files]
    .filter((path) => /(^|\/)(package\.json|(GNUm|m|M)akefile|[^/]+\.mk)$/.test(path))
    .filter((path) => !path.includes('node_modules/'))
    .toSorted((a, b) => depth(a) - depth(b));
  for (const path of callers.slice(0, MOST_CALLERS)) {
    const text = await base.show(path);
    for (const command of testCommands(path, text ?? '', names))
      add(runFiles(command, [posix.dirname(path), '']), command);
  }
  // A map's loop also sees what is added on the way.
  for (const path of files.keys()) {
    if (!/(\.(ba|z|k)?sh|\/[^./]+|^[^./]+)$/.test(path)) continue;
    const script = (await base.show(path)) ?? '';
    if (path.endsWith('sh') || /^#!.*sh\b/.test(script))
      add(runFiles(script.slice(0, 64 * 1024), ['', posix.dirname(path)]), path);
  }
  return { names, files };
}

const checks = /test|check|verify|spec|lint|(^|[/._-])(ci|run|runner)([/._-]|$)/i;

/** Whether a path is what is built and tested, and not what tests it. */
function isProduct(path: string): boolean {
  if (checks.test(posix.basename(path))) return false;
  return (
    /(^|\/)(src|lib|app|bin|dist|build|cmd)\//.test(path) ||
    /^(index|main|app|cli|server|setup|__main__)\.\w+$/.test(path)
  );
}

/** Paths that a command line runs, whether they exist or not. */
function runFiles(command: string, folders: readonly string[]): string[] {
  const found: string[] = [];
  let where = folders;
  for (const words of simpleCommands(command)) {
    const [first, second] = words;
    if ((first === 'cd' || first === 'pushd') && second !== undefined) where = [...join([second], where), ...where];
    found.push(...join(runBy(words), where), ...inner(words).flatMap((script) => runFiles(script, where)));
  }
  return found;
}

function join(paths: readonly string[], folders: readonly string[]): string[] {
  return paths.flatMap((path) => {
    // the folder of a script, however it finds it out
    const plain = path.replace(/^(\$\([^)]*\)|`[^`]*`|\$\{[^}]*\}|\$\w+)\//, '').replace(/^file:/, '');
    return folders.map((folder) => posix.normalize(posix.join(folder, plain)));
  });
}

function runBy(words: readonly string[]): string[] {
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? '';
    if (wrapper.test(posix.basename(word)) || /^-|^\w+=|^[\d.]+[smhd]?$/.test(word)) at += 1;
    else break;
  }
  const program = posix.basename(words[at] ?? '');
  const rest = words.slice(at + 1);
  const options = rest.flatMap((word, index) => {
    const [name = '', value] = word.split(/=(.*)/s);
    return fileOption.test(name) ? [value ?? rest[index + 1] ?? ''] : [];
  });
  if (runner.test(program)) return options.flatMap(withEndings);
  if (!interpreter.test(program)) return [words[at] ?? '', ...(/\.go$/.test(words[at] ?? '') ? rest : [])];
  if (rest.includes('--test')) return options;
  const module = rest[rest.indexOf('-m') + 1];
  if (program.startsWith('py') && rest.includes('-m') && module !== undefined) {
    const path = module.replaceAll('.', '/');
    const parts = rest.slice(rest.indexOf('-m') + 1);
    return [`${path}.py`, `${path}/__main__.py`, ...(runner.test(module) || module === 'coverage' ? runBy(parts) : [])];
  }
  const script = rest.find(
    (word, index) => !word.startsWith('-') && word !== 'run' && !fileOption.test(rest[index - 1] ?? ''),
  );
  return [...options, ...(script === undefined ? [] : withEndings(script))];
}

function withEndings(path: string): string[] {
  return /\.\w+$/.test(path)
    ? [path]
    : [path, ...['js', 'mjs', 'cjs', 'ts'].flatMap((end) => [`${path}.${end}`, `${path}/index.${end}`])];
}

/** Scripts in a command's words: `sh -c '…'`. */
function inner(words: readonly string[]): string[] {
  const at = words.findIndex((word) => /^-\w*c$/.test(word));
  return at > 0 && words.slice(0, at).some((word) => /^(.*\/)?(ba|da|k|z)?sh$/.test(word)) ? [words[at + 1] ?? ''] : [];
}
