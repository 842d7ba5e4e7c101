import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { AppError, type AppErrorCode } from '../base/errors.ts';
import { createMasker } from '../base/mask.ts';
import { killQuietly } from '../base/process-tree.ts';

export interface GitOptions {
  readonly cwd: string;
  /** The whole environment of the process, `PATH` included; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** What the call is for, as in "could not <doing>"; default: `run git <first argument>`. */
  readonly doing?: string;
  readonly input?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; default two minutes. */
  readonly timeoutMs?: number;
  /** Exit codes that are an answer, not an error; default only 0. */
  readonly okExits?: readonly number[];
  /** Values masked in error messages. */
  readonly secrets?: readonly string[];
  /** How output is decoded; default `utf8`. `latin1` keeps every byte, for paths in unknown encodings. */
  readonly encoding?: 'utf8' | 'latin1';
}

export interface GitResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

const GLOBAL_CONFIG = fileURLToPath(new URL('./safe.gitconfig', import.meta.url));

// On the command line, so that nothing in a repository's own configuration outranks them.
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.quotePath=false',
  'core.pager=cat',
  'core.editor=true',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'push.gpgSign=false',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
  'protocol.ext.allow=never',
  'advice.detachedHead=false',
  // a server that went silent is given up
  'http.lowSpeedLimit=100',
  'http.lowSpeedTime=45',
].flatMap((setting) => ['-c', setting]);

/**
 * Runs git with hooks, filters of the user's configuration, fsmonitor, signing and prompts off. Throws `AppError` (`git`, `timeout` or
 * `disk_full`) with what git said, secrets masked and `details: {exit, stderr}`, or the signal's reason.
 */
export async function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  options.signal?.throwIfAborted();
  const timeout = options.timeoutMs ?? 120_000;
  const running = execa('git', [...settings, ...args], {
    cwd: options.cwd,
    env: { ...options.env, ...fixedEnv },
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    encoding: options.encoding ?? 'utf8',
    maxBuffer: 512 * 1024 * 1024,
    // A group of its own, since git's helpers hold its pipes and must end with it.
    detached: true,
    ...(options.input === undefined ? { stdin: 'ignore' } : { input: options.input }),
  });
  let timedOut = false;
  const end = (): void => endGroup(running.pid);
  const timer = setTimeout(() => {
    timedOut = true;
    end();
  }, timeout);
  options.signal?.addEventListener('abort', end, { once: true });
  const result = await running.finally(() => {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', end);
  });
  options.signal?.throwIfAborted();
  const { stdout, stderr, exitCode } = result;
  if (exitCode !== undefined && (options.okExits ?? [0]).includes(exitCode)) return { stdout, stderr, exit: exitCode };

  const { mask } = createMasker(options.secrets ?? []);
  const doing = options.doing ?? `run git ${args[0] ?? ''}`;
  const said = timedOut
    ? `git was still at it after ${Math.round(timeout / 1000)} s`
    : exitCode === undefined
      ? result.code === 'ENOENT'
        ? 'git cannot be started; is it installed and on PATH, and does the folder exist?'
        : `git was ended (${result.signal ?? result.code ?? 'no exit code'})`
      : lastWords(stderr) || lastWords(stdout) || `git ended with exit code ${exitCode}`;
  throw new AppError(codeOf(timedOut, stderr), `could not ${doing}: ${mask(said)}`, {
    details: { exit: exitCode ?? null, stderr: mask(stderr.slice(-4_000)), args: args.map(mask) },
  });
}

const fixedEnv = {
  LC_ALL: 'C',
  GIT_CONFIG_GLOBAL: GLOBAL_CONFIG,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_LFS_SKIP_SMUDGE: '1',
  // a replaced object would be judged in place of the one that is pushed
  GIT_NO_REPLACE_OBJECTS: '1',
};

function codeOf(timedOut: boolean, stderr: string): AppErrorCode {
  if (timedOut) return 'timeout';
  return /no space left on device|disk quota exceeded/i.test(stderr) ? 'disk_full' : 'git';
}

/** SIGTERM first, upon which git removes its lock files. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  killQuietly(-pid, 'SIGTERM');
  setTimeout(killQuietly, 2_000, -pid, 'SIGKILL').unref();
}

/** What git says last is mostly advice; the lines that begin with a mark of failure are what went wrong. */
function lastWords(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.filter((line) => /^(fatal|error|remote: error|remote: fatal|!)/.test(line));
  return (telling.length > 0 ? telling : lines).slice(-3).join('; ').slice(0, 600);
}
