import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built program; `npm test` builds it first. */
export const mainFile = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface CliResult {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  /** Resolves with the first stretch of output on which `pattern` fits; rejects when the process ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when the process has ended. */
  readonly result: Promise<CliResult>;
}

interface CliOptions {
  /** The whole environment beside PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Text for stdin; absent = no stdin. */
  readonly input?: string;
}

/** Starts `npc-crew` from `dist/` in a process of its own. */
export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const child = spawn(process.execPath, [mainFile, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const result = once(child, 'close').then(([exit, signal]) => ({ exit, signal, stdout, stderr }));
  const until = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(stdout + stderr);
        if (match) resolve(match);
      };
      child.stdout?.on('data', look);
      child.stderr?.on('data', look);
      look();
      void result.then(() => reject(new Error(`ended before ${pattern} came:\n${stdout}${stderr}`)));
    });
  return { child, until, result };
}

/** Runs `npc-crew` to its end. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return startCli(args, options).result;
}
