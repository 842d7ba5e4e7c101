import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { AppError } from '../../base/errors.ts';
import { endProcesses, findProcesses, type LiveProcess, type ProcessMark } from '../../base/process-tree.ts';
import { sleep } from '../../base/time.ts';
import { keepLaterOutput } from './later-output.ts';
import { outputBuffer } from './output-buffer.ts';
import { drain, readPipe } from './pipe-reader.ts';

/** Time between SIGTERM and SIGKILL, ms. */
const GRACE_MS = 1000;

export interface CommandOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the command with all its children; the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Wall limit, ms; absent for none. */
  readonly limitMs?: number;
  /** Gets each piece of output that came: complete lines, or nothing while one is under way. */
  readonly onOutput?: (text: string) => void;
  /** File for what processes that were left behind still print; without it their output ends with the command. */
  readonly laterOutput?: string;
}

/** How a command ended. */
export interface CommandEnd {
  /** Exit code; null when a signal ended it. */
  readonly exit: number | null;
  /** The signal that ended it. */
  readonly signal: NodeJS.Signals | null;
  /** Whether it was ended because of `limitMs`. */
  readonly limited: boolean;
  /** Both streams in the order they came, line by line. */
  readonly output: string;
  readonly stdout: string;
  /** How long it had printed nothing when it ended, ms. */
  readonly silentMs: number;
  /** Processes it started that are still alive. */
  readonly left: readonly LiveProcess[];
  /** Whether anybody still holds its output, although perhaps nobody in `left`: one may have cleared its environment. */
  readonly held: boolean;
  /** Whether `laterOutput` receives what is still printed. */
  readonly laterOutput: boolean;
}

/**
 * Runs a program without stdin and terminal. It ends when the program exits, not when the last holder of its pipes is
 * gone; at the limit or on cancel the whole tree is ended, children that left group and session too. Throws `not_found`
 * when program or folder are missing.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  options.signal.throwIfAborted();
  const call = randomUUID();
  const child = spawn(options.file, [...options.args], {
    cwd: options.cwd,
    env: { ...options.env, NPC_CALL: call },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A session of its own: a group to signal, and no terminal on which a program could ask.
    detached: true,
  });
  const exited = new Promise<{ exit: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exit, signal) => resolve({ exit, signal }));
  });
  const { pid } = child;
  if (pid === undefined) throw await startError(options, exited);
  const mark: ProcessMark = { variable: { name: 'NPC_CALL', value: call }, leader: pid };
  const holds = [heldAt(pid, 1), heldAt(pid, 2)].filter((held) => held !== undefined);

  let lastOutput = performance.now();
  const output = outputBuffer();
  const stdout = outputBuffer();
  const pipes = [child.stdout, child.stderr].map((stream) =>
    readPipe(stream, (text) => {
      lastOutput = performance.now();
      options.onOutput?.(text);
      output.add(text);
      if (stream === child.stdout) stdout.add(text);
    }),
  );
  const limited = await waitOrEnd(exited, mark, options);
  const stopped = limited || options.signal.aborted;
  const end = await (stopped ? Promise.race([exited, unkillable()]) : exited);
  await drain(pipes, { ...mark, holds });
  for (const pipe of pipes) pipe.flush();
  const left = await findProcesses({ ...mark, holds: pipes.every((pipe) => pipe.ended()) ? [] : holds });
  const open = pipes.filter((pipe) => !pipe.ended()).map((pipe) => pipe.release());
  options.signal.throwIfAborted();
  return {
    ...end,
    limited,
    output: output.text(),
    stdout: stdout.text(),
    silentMs: performance.now() - lastOutput,
    left,
    held: open.length > 0,
    laterOutput: keepLaterOutput(open, options.laterOutput),
  };
}

/** Waits for the exit; ends the tree at the limit (then true) or on cancel. */
async function waitOrEnd(exited: Promise<unknown>, mark: ProcessMark, options: CommandOptions): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const stop = new Promise<'limit' | 'cancelled'>((resolve) => {
    if (options.limitMs !== undefined) timer = setTimeout(resolve, options.limitMs, 'limit');
    onAbort = () => resolve('cancelled');
    options.signal.addEventListener('abort', onAbort, { once: true });
    if (options.signal.aborted) onAbort();
  });
  try {
    const first = await Promise.race([exited.then(() => 'exit' as const), stop]);
    if (first === 'exit') return false;
    await endProcesses(mark, GRACE_MS);
    return first === 'limit';
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onAbort);
  }
}

/** A process that hangs in the kernel takes no signal; it must not hold the one who ended it. */
async function unkillable(): Promise<{ exit: null; signal: null }> {
  await sleep(2000);
  return { exit: null, signal: null };
}

/** Its end of one of the pipes, as in `socket:[123]`; undefined when it is gone already. */
function heldAt(pid: number, descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

async function startError(options: CommandOptions, exited: Promise<unknown>): Promise<AppError> {
  const cause = await exited.catch((error: unknown) => error);
  const folder = await stat(options.cwd).catch(() => undefined);
  if (!folder?.isDirectory()) return new AppError('not_found', `the work tree ${options.cwd} is not there`, { cause });
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return new AppError('not_found', `there is no program "${options.file}" on PATH`, { cause });
  return new AppError('internal', `"${options.file}" could not be started: ${code}`, { cause });
}
