import { basename, resolve } from 'node:path';
import type { Hook } from '../core/hook.ts';
import { type Command, shellCommands } from './shell-words.ts';

/** Refuses `bash` calls that destroy work or reach outside the work tree `cwd`. A net for mistakes, not a wall against intent. */
export function dangerousCommands(cwd: string): Hook {
  return {
    name: 'dangerous-commands',
    at: {
      'tool.before': ({ call }) => {
        const line = call.name === 'bash' ? call.input.command : undefined;
        const reason = typeof line === 'string' ? dangerOf(line, { cwd, folder: cwd }) : undefined;
        return reason === undefined ? undefined : { refuse: reason };
      },
    },
  };
}

interface Place {
  /** The work tree. */
  readonly cwd: string;
  /** Where the command runs, as far as `cd` tells. */
  readonly folder: string;
}

type Judge = (args: Command, place: Place) => string | undefined;

const judges: Readonly<Record<string, Judge>> = {
  git: judgeGit,
  rm: judgeRm,
  find: judgeFind,
  pkill: () => 'pkill ends processes by name, this agent and others too; end the one you mean with kill PID.',
  killall: () => 'killall ends processes by name, this agent and others too; end the one you mean with kill PID.',
  kill: (args) =>
    args.includes('-1') ? 'kill -1 ends every process there is; give the PID of the one you mean.' : undefined,
  eval: (args, place) => dangerOf(args.join(' '), place),
  sh: judgeShell,
  bash: judgeShell,
};

function dangerOf(line: string, { cwd, folder }: Place): string | undefined {
  let here = folder;
  for (const command of shellCommands(line)) {
    const [program = '', ...args] = withoutWrappers(command);
    if (program === 'cd') here = resolve(here, args.at(-1) ?? '/');
    const name = basename(program);
    const reason = Object.hasOwn(judges, name) ? judges[name]?.(args, { cwd, folder: here }) : undefined;
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const WRAPPERS = new Set(
  'sudo doas env nohup time timeout nice ionice setsid stdbuf command builtin exec xargs if then elif else while until do ! {'.split(
    ' ',
  ),
);

/** The program itself: what runs it, and that one's options, assignments and durations, are taken off the front. */
function withoutWrappers(command: Command): Command {
  if (!WRAPPERS.has(command[0] ?? '')) return command;
  const next = command.findIndex((word, index) => index > 0 && !/^(-.*|\w+=.*|\d+(\.\d+)?[smhd]?)$/.test(word));
  return next < 0 ? [] : withoutWrappers(command.slice(next));
}

function judgeShell(args: Command, place: Place): string | undefined {
  const flag = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
  return flag < 0 ? undefined : dangerOf(args[flag + 1] ?? '', place);
}

function judgeGit(args: Command): string | undefined {
  const start = args.findIndex(
    (arg, index) => !arg.startsWith('-') && !/^(-C|-c|--git-dir|--work-tree)$/.test(args[index - 1] ?? ''),
  );
  const [verb = '', ...rest] = start < 0 ? [] : args.slice(start);
  const has = (...words: string[]) => rest.some((arg) => words.includes(arg));
  const short = (letter: string) => rest.some((arg) => /^-[a-zA-Z]+$/.test(arg) && arg.includes(letter));
  const everything = has('.', './', '*', ':/');
  if (verb === 'push')
    return 'pushing is not your part: what differs in the work tree is committed and pushed when you are done.';
  const destroys =
    (verb === 'reset' && has('--hard', '--merge')) ||
    (verb === 'clean' && (short('f') || has('--force')) && !short('n') && !has('--dry-run')) ||
    (verb === 'checkout' && (everything || short('f') || has('--force'))) ||
    (verb === 'restore' && everything && (!(short('S') || has('--staged')) || short('W') || has('--worktree'))) ||
    (verb === 'stash' && has('drop', 'clear')) ||
    (verb === 'branch' && (short('D') || (has('--delete') && has('--force')))) ||
    (verb === 'reflog' && has('expire', 'delete')) ||
    (verb === 'update-ref' && has('-d')) ||
    (verb === 'worktree' && has('remove', 'prune')) ||
    ['filter-branch', 'filter-repo'].includes(verb);
  return destroys
    ? `git ${verb} like this destroys work that cannot be got back. Undo single files instead: git checkout -- FILE.`
    : undefined;
}

function judgeRm(args: Command, place: Place): string | undefined {
  const end = args.indexOf('--');
  const options = (end < 0 ? args : args.slice(0, end)).filter((arg) => arg.startsWith('-'));
  const targets = args.filter((arg, index) => (end >= 0 && index > end) || !arg.startsWith('-'));
  const recursive = options.some((arg) => arg === '--recursive' || /^-[a-zA-Z]*[rR]/.test(arg));
  for (const target of targets) {
    const where = whereIs(target, place);
    if (where === 'tree' && recursive) return 'this deletes the whole work tree.';
    if (where === 'git') return "this deletes git's own files.";
    if (where === 'unknown' && recursive)
      return `if the variable in ${target} is empty, this deletes from the root. Write the path out.`;
    if (where === 'outside' || (where === 'scratch' && recursive)) {
      return `${target} lies outside the work tree. Delete only what is in it.`;
    }
  }
  return undefined;
}

function judgeFind(args: Command, place: Place): string | undefined {
  const deletes =
    args.includes('-delete') ||
    args.some((arg, index) => arg.startsWith('-exec') && /^(.*\/)?rm$/.test(args[index + 1] ?? ''));
  const first = args.findIndex((arg) => /^[-(!]/.test(arg));
  const outside = args.slice(0, first < 0 ? args.length : first).find((start) => whereIs(start, place) === 'outside');
  return deletes && outside !== undefined
    ? `${outside} lies outside the work tree. Delete only what is in it.`
    : undefined;
}

type Where = 'inside' | 'tree' | 'git' | 'scratch' | 'outside' | 'unknown';

function whereIs(path: string, { cwd, folder }: Place): Where {
  if (/^(~|\$HOME\b|\$\{HOME\})/.test(path)) return 'outside';
  if (path.startsWith('$')) return /^(\$\w+|\$\{[^}]*\}|\$\(\))\/+\**$/.test(path) ? 'unknown' : 'inside';
  const full = resolve(folder, path.replace(/(^|\/)\*+$/, '$1.'));
  if (full === cwd) return 'tree';
  if (full === `${cwd}/.git` || full.startsWith(`${cwd}/.git/`)) return 'git';
  if (full.startsWith(`${cwd}/`)) return 'inside';
  return full.startsWith('/tmp/') ? 'scratch' : 'outside';
}
