import { spawn } from 'node:child_process';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How often a run is started again after a death that nobody asked for. */
const RESTARTS = 2;

/**
 * Runs `command` as a child that shares this process's streams, hands signals on to it, and starts it again with `--resume` when
 * it died by a signal that did not come through here. Resolves to the exit code to end with.
 */
export async function supervise(command: readonly [string, ...string[]], say: (line: string) => void): Promise<number> {
  let stopping = false;
  for (let restarts = 0; ; restarts += 1) {
    const [program, ...args] = command;
    const child = spawn(program, restarts === 0 ? args : [...args, '--resume'], { stdio: 'inherit' });
    const forward = (signal: NodeJS.Signals) => {
      stopping = true;
      child.kill(signal);
    };
    for (const signal of forwarded) process.on(signal, forward);
    const { code, signal } = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
      (resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (code, signal) => resolve({ code, signal }));
      },
    );
    for (const name of forwarded) process.off(name, forward);
    if (code !== null) return code;
    if (stopping) return signal === 'SIGINT' ? 130 : 143;
    if (restarts === RESTARTS) {
      say(`npc-crew: the run was ended by ${signal} for the third time; giving up`);
      return 1;
    }
    say(`npc-crew: the run was ended by ${signal}; starting it again where it stood`);
  }
}
