import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a process of the bench answers to, by kind of question. */
export type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

/** A process that was started for a measurement and answers questions. */
export interface Child<H extends Handlers> {
  readonly pid: number;
  /** Rejects when the other side threw, or ended. */
  ask<K extends keyof H & string>(kind: K, ...argument: Parameters<H[K]>): Promise<Awaited<ReturnType<H[K]>>>;
  /** Lets it end by itself; ended by force after 5 s. */
  end(): Promise<void>;
}

/** Which core a process is kept on: measured ones on the first, their clients on the second. */
export type Core = 0 | 1;

/** Whether measured processes and their clients can be kept on cores of their own. */
export const canPin =
  availableParallelism() >= 2 && ['0', '1'].every((core) => spawnSync('taskset', ['-c', core, 'true']).status === 0);

/** The processes and folders of one bench; all of them are gone after `clear`, whatever happened. */
export class Children {
  readonly #running = new Set<ChildProcess>();
  readonly #folders = new Set<string>();
  #over = false;

  /** A new folder, on the disk that holds temporary files. */
  async folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'npc-bench-'));
    this.#folders.add(path);
    return path;
  }

  async removeFolder(path: string): Promise<void> {
    this.#folders.delete(path);
    await rm(path, { recursive: true, force: true });
  }

  /** Starts a program of the bench, named from this folder without its ending, and waits until it answers. */
  async start<H extends Handlers>(
    program: string,
    settings: unknown,
    options: { core: Core; nodeOptions?: readonly string[] },
  ): Promise<Child<H>> {
    const args = [...(options.nodeOptions ?? []), programFile(program), JSON.stringify(settings)];
    const child = this.spawn(process.execPath, args, options.core, ['ignore', 'ignore', 'inherit', 'ipc']);
    const asked = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
    child.on('message', (message) => {
      const { id, value, error } = message as { id: number; value: never; error?: string };
      if (error === undefined) asked.get(id)?.resolve(value);
      else asked.get(id)?.reject(new Error(`${program}: ${error}`));
      asked.delete(id);
    });
    let over: Error | undefined;
    child.on('exit', (code, signal) => {
      over = new Error(`${program} ended with ${signal ?? code}`);
      for (const { reject } of asked.values()) reject(over);
    });
    let count = 0;
    const ask = (kind: string, argument?: unknown) =>
      new Promise<never>((resolve, reject) => {
        if (over !== undefined) reject(over);
        count += 1;
        asked.set(count, { resolve, reject });
        child.send({ id: count, kind, argument }, (error) => {
          if (error !== null) reject(error);
        });
      });
    await ask('ready');
    return { pid: child.pid as number, ask, end: () => this.#end(child) };
  }

  /** Starts any program, on its core where that can be done. */
  spawn(
    command: string,
    args: readonly string[],
    core: Core,
    stdio: ('ignore' | 'inherit' | 'pipe' | 'ipc')[],
  ): ChildProcess {
    if (this.#over) throw new Error('the bench is over');
    const child = canPin
      ? spawn('taskset', ['-c', String(core), command, ...args], { stdio })
      : spawn(command, args, { stdio });
    this.#running.add(child);
    child.on('exit', () => this.#running.delete(child));
    // An `exit` does not follow when it could not be started.
    child.on('error', () => this.#running.delete(child));
    return child;
  }

  /** Ends a program that answers no questions. */
  async stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Ends what runs and removes what was written; nothing can be started any more. */
  async clear(): Promise<void> {
    this.#over = true;
    await Promise.all([...this.#running].map((child) => this.stop(child)));
    for (const path of this.#folders) await this.removeFolder(path);
  }

  async #end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.disconnect();
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await ended;
    clearTimeout(late);
  }
}

/** A measured program is always the built one: loading the sources as they are would be measured too. */
function programFile(program: string): string {
  const built = import.meta.url.endsWith('.ts') ? '../dist/bench/' : './';
  return fileURLToPath(new URL(`${built}${program}.js`, import.meta.url));
}
