import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { messageOf } from '../base/errors.ts';
import { endProcesses, killQuietly, type ProcessMark } from '../base/process-tree.ts';

interface CommandOptions {
  readonly command: string;
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Told each line of output as it comes. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** True when nobody else works in `cwd`: whatever is left running there is ended too. */
  readonly ownFolder?: boolean;
}

/** How a command ended; `exit` is null when it could not start or ran out of time. */
export interface CommandEnd {
  readonly exit: number | null;
  readonly ms: number;
  /** The end of its output, at least {@link TAIL} characters where there were as many. */
  readonly output: string;
  readonly timedOut: boolean;
}

/** Characters of a command's output that are kept for the record. */
export const TAIL = 3_000;

/**
 * Runs a shell command (`bash -e -o pipefail`) without input and ends it with everything that it started, also what left its process
 * group. Nothing runs on after the returned promise settles. Rejects with the signal's reason.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  options.signal?.throwIfAborted();
  const variable = { name: 'NPC_COMMAND', value: randomBytes(8).toString('hex') };
  const mark: ProcessMark = { variable, ...(options.ownFolder && { folder: options.cwd }) };
  const started = performance.now();
  // One pipe for both streams keeps their order.
  const shell = spawn('bash', ['-e', '-o', 'pipefail', '-c', `exec 2>&1; ${options.command}`], {
    cwd: options.cwd,
    env: { ...options.env, [variable.name]: variable.value },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const output = collectOutput(options.onLine);
  shell.stdout.on('data', output.add);
  const closed = new Promise<void>((done) => shell.stdout.once('close', done));
  const ended = new Promise<number | null>((done) => {
    shell.once('exit', (code, signal) => done(signal === null ? code : 128 + (signals[signal] ?? 0)));
    shell.once('error', (error) => {
      output.add(Buffer.from(`${messageOf(error)}\n`));
      shell.stdout.destroy();
      done(null);
    });
  });

  const clock = new AbortController();
  const timedOut = delay(options.timeoutMs, 'late' as const, { signal: clock.signal, ref: false }).catch(
    () => new Promise<never>(() => {}),
  );
  const aborted = new Promise<'aborted'>((done) =>
    options.signal?.addEventListener('abort', () => done('aborted'), { once: true, signal: clock.signal }),
  );
  let end = await Promise.race([ended, timedOut, aborted]);
  if (end === 'late' && shell.pid !== undefined) {
    // Test runners report on SIGTERM what they were waiting for.
    killQuietly(-shell.pid, 'SIGTERM');
    await Promise.race([ended, delay(1_500, undefined, { ref: false }), aborted]);
  }
  if (options.signal?.aborted) end = 'aborted';
  clock.abort();
  if (shell.pid !== undefined) killQuietly(-shell.pid, 'SIGKILL');
  await endProcesses(mark);
  // Whoever still holds the pipe is out of our reach.
  await Promise.race([closed, delay(500, undefined, { ref: false })]);
  shell.stdout.destroy();
  if (end === 'aborted') options.signal?.throwIfAborted();
  return {
    exit: typeof end === 'number' ? end : null,
    ms: Math.round(performance.now() - started),
    output: output.end(),
    timedOut: end === 'late',
  };
}

const signals: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

/** Decodes output whatever the borders of its chunks, and keeps its end. */
function collectOutput(onLine: ((line: string) => void) | undefined): { add(chunk: Buffer): void; end(): string } {
  const decoder = new StringDecoder('utf8');
  let kept = '';
  let line = '';
  const take = (text: string): void => {
    kept += text;
    if (kept.length > 16 * TAIL) kept = kept.slice(-8 * TAIL);
    if (!onLine) return;
    const lines = `${line}${text}`.split('\n');
    line = (lines.pop() ?? '').slice(-64 * 1024);
    for (const whole of lines) onLine(whole);
  };
  return {
    add: (chunk) => take(decoder.write(chunk)),
    end() {
      take(decoder.end());
      if (onLine && line !== '') onLine(line);
      return clean(kept);
    },
  };
}

/** Without colours, and of a line that was drawn over again and again only what was seen last. */
function clean(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\n]*\r(?=[^\n])/g, '')
    .replaceAll(/[\0\r]/g, '');
}
