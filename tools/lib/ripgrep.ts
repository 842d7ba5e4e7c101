import { execa } from 'execa';
import { AppError } from '../../base/errors.ts';
import type { ToolContext } from '../../core/tool.ts';
import { findRipgrep } from './find-ripgrep.ts';

/** Most output that is taken, bytes, and the longest a search may take, ms. */
const MAX_OUTPUT = 8 * 1024 * 1024;
const LIMIT_MS = 60_000;

/** What a search brought. */
export interface SearchOutput {
  readonly bytes: Buffer;
  /** Whether there was more than is kept. */
  readonly cut: boolean;
  /** Complaints about single files, where others were searched. */
  readonly warning: string;
}

/** Runs ripgrep in `folder`. No match is empty output; an error is thrown as what it says, and never looks like no match. */
export async function ripgrep(
  folder: string,
  args: readonly string[],
  context: Pick<ToolContext, 'env' | 'signal'>,
): Promise<SearchOutput> {
  const program = await findRipgrep(context.env.PATH);
  const result = await execa(program, ['--no-config', '--color=never', ...args], {
    cwd: folder,
    env: context.env,
    extendEnv: false,
    stdin: 'ignore',
    encoding: 'buffer',
    stripFinalNewline: false,
    maxBuffer: { stdout: MAX_OUTPUT },
    timeout: LIMIT_MS,
    cancelSignal: context.signal,
    reject: false,
  });
  context.signal.throwIfAborted();
  const bytes = Buffer.from(result.stdout);
  const complaint = Buffer.from(result.stderr).toString('utf8').trim().slice(0, 2000);
  if (result.isMaxBuffer) return { bytes, cut: true, warning: '' };
  if (result.timedOut) {
    throw new AppError('timeout', `the search took more than ${LIMIT_MS / 1000} s; narrow it to a folder`);
  }
  if (result.exitCode === 0 || result.exitCode === 1) return { bytes, cut: false, warning: complaint };
  // Exit 2 with output: some files could not be read, the others were.
  if (result.exitCode === 2 && bytes.length > 0) return { bytes, cut: false, warning: complaint };
  throw new AppError('refused', `the search failed: ${complaint || result.shortMessage}`, { cause: result.cause });
}

/** Whether the search leaves git's own files out and respects ignore files; the same for every listing. */
export function scope(ignored: boolean): string[] {
  return ['--hidden', ...(ignored ? ['--no-ignore'] : ['--no-require-git'])];
}

/** Files below `folder`, as paths relative to it, in order; those that are ignored only on request. */
export async function listFiles(
  folder: string,
  options: { readonly pattern?: string; readonly ignored: boolean },
  context: Pick<ToolContext, 'env' | 'signal'>,
): Promise<{ files: string[]; cut: boolean }> {
  const all = await filesOf(folder, undefined, options.ignored, context);
  if (options.pattern === undefined) return all;
  // A pattern overrides ignore files in ripgrep, so what matches is compared with what is not ignored.
  const matching = await filesOf(folder, options.pattern, options.ignored, context);
  const known = new Set(all.files);
  return { files: matching.files.filter((file) => known.has(file)), cut: all.cut || matching.cut };
}

async function filesOf(
  folder: string,
  pattern: string | undefined,
  ignored: boolean,
  context: Pick<ToolContext, 'env' | 'signal'>,
): Promise<{ files: string[]; cut: boolean }> {
  const chosen = pattern === undefined ? [] : [`--glob=${escapeNegation(pattern)}`];
  const args = ['--files', '--null', ...scope(ignored), ...chosen, '--glob=!.git'];
  const { bytes, cut } = await ripgrep(folder, args, context);
  const names = bytes.toString('utf8').split('\0');
  // The last piece is empty, or cut in the middle.
  names.pop();
  return { files: names.map((name) => name.replace(/^\.\//, '')).sort(), cut };
}

/** A leading exclamation mark would turn the pattern round. */
export function escapeNegation(pattern: string): string {
  return pattern.startsWith('!') ? `\\${pattern}` : pattern;
}
