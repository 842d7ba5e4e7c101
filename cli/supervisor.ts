import { spawn } from 'node:child_process';
import { type EndSignal, endSignals, exitBySignal } from './signals.ts';

/** How often a run is started again after a death that nobody asked for. */
const RESTARTS = 2;

interface Supervision {
  readonly say: (line: string) => void;
  /** Called when the run died of a signal that was handed on, before it could end in order. */
  readonly onUnanswered?: (signal: EndSignal) => Promise<void>;
}

/**
 * Runs `command` as a child that shares this process's streams, hands signals on to it, and starts it again with `--resume` when
 * it died by a signal that did not come through here. Resolves to the exit code to end with.
 */
export async function supervise(
  [program, ...args]: readonly [string, ...string[]],
  { say, onUnanswered }: Supervision,
): Promise<number> {
  let kill: (signal: EndSignal) => void = () => {};
  let asked: EndSignal | undefined;
  const forward = (signal: EndSignal) => {
    asked ??= signal;
    kill(signal);
  };
  // before there is a child: a signal during the spawn is taken once it returns, and would else leave the child behind
  for (const signal of endSignals) process.on(signal, forward);
  try {
    for (let restarts = 0; ; restarts += 1) {
      const child = spawn(program, restarts === 0 ? args : [...args, '--resume'], { stdio: 'inherit' });
      kill = (name) => child.kill(name);
      const { code, signal } = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
        (resolve, reject) => {
          child.once('error', reject);
          child.once('exit', (code, signal) => resolve({ code, signal }));
        },
      );
      if (code !== null) return code;
      if (asked) {
        await onUnanswered?.(asked);
        return exitBySignal[asked];
      }
      if (restarts === RESTARTS) {
        say(`npc-crew: the run was ended by ${signal} for the third time; giving up`);
        return 1;
      }
      say(`npc-crew: the run was ended by ${signal}; starting it again where it stood`);
    }
  } finally {
    for (const name of endSignals) process.off(name, forward);
  }
}

/** How often a supervised run looks for its supervisor, ms. */
const LOOK_MS = 1000;

/**
 * Asks this process to end, as by SIGTERM, once its supervisor with that pid is gone: nobody would hand on signals any more, and
 * the build has ended.
 */
export function endWithSupervisor(pid: number, say: (line: string) => void): void {
  const looking = setInterval(() => {
    if (process.ppid === pid) return;
    clearInterval(looking);
    say('npc-crew: the process that watched over this run is gone; the run ends');
    process.kill(process.pid, 'SIGTERM');
  }, LOOK_MS).unref();
}
