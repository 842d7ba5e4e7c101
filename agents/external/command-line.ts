import { AppError } from '../../base/errors.ts';

/** Says what is wrong with a command line before any task comes. Throws `usage`. */
export function checkCommandLine(exec: string): void {
  if (exec.includes('{task}')) return;
  const example = "as in --exec 'my-coder --task {task} --out {result}'";
  throw new AppError('usage', `--exec ${exec}: it names no {task}, the file that says what to do; ${example}`);
}

/** Puts the paths into the command line, quoted for the shell. */
export function fillCommandLine(exec: string, paths: { readonly task: string; readonly result: string }): string {
  return exec.replaceAll('{task}', () => quoted(paths.task)).replaceAll('{result}', () => quoted(paths.result));
}

/** Plain paths stay bare, so that a command line may have quotes of its own around the place. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
