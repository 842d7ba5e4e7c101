import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { AppError } from '../base/errors.ts';
import type { Environment } from '../config/index.ts';
import type { AgentSecrets } from './agent-secrets.ts';
import { startTimeOf } from './process-facts.ts';

/** One agent process to start; `exec` is the command line of another coding program that plays the role. */
interface AgentOrder {
  readonly name: string;
  readonly role: string;
  readonly exec?: string;
}

interface AgentProcess {
  readonly pid: number;
  /** See {@link startTimeOf}. */
  readonly startTime: string;
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ readonly exit: number | null; readonly signal: string | null }>;
  /** SIGKILL goes to everything in the agent's process group. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

interface SpawnOptions {
  readonly hubUrl: string;
  readonly gatewayUrl: string;
  readonly stateDir: string;
  /** An allow-list; see `childEnv`. */
  readonly env: Environment;
  secretsFor(order: AgentOrder): AgentSecrets;
  /** Gets each line that an agent writes to stderr, with its name in front. */
  say(line: string): void;
  /** Program and first arguments that start npc-crew. */
  readonly command: readonly [string, ...string[]];
}

/** Starts role agents as processes of their own. Secrets go through stdin, never through arguments or the environment. */
export function agentSpawner(options: SpawnOptions): (order: AgentOrder) => Promise<AgentProcess> {
  return async (order) => {
    const [program, ...first] = options.command;
    const args = [...first, 'agent', order.role, '--name', order.name, '--hub', options.hubUrl];
    args.push('--gateway', options.gatewayUrl, '--state', options.stateDir, '--token-stdin');
    if (order.exec !== undefined) args.push('--exec', order.exec);
    // a group of its own: Ctrl-C in a terminal reaches the run, which ends its agents in order
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'], env: options.env, detached: true });
    const exited = new Promise<{ exit: number | null; signal: string | null }>((resolve) => {
      child.once('exit', (exit, signal) => resolve({ exit, signal }));
      child.once('error', () => resolve({ exit: null, signal: null }));
    });
    const { pid } = child;
    if (pid === undefined) throw new AppError('internal', `could not start ${order.name}: ${program} does not run`);
    // an agent that dies at once closes the pipe; `exited` tells
    child.stdin.on('error', () => {});
    child.stdin.end(`${JSON.stringify(options.secretsFor(order))}\n`);
    createInterface({ input: child.stderr }).on('line', (line) => options.say(`${order.name}: ${line}`));
    // whatever it left behind in its group goes with it
    void exited.then(() => send('SIGKILL', -pid));
    return {
      pid,
      startTime: await startTimeOf(pid),
      exited,
      kill: (signal) => send(signal, signal === 'SIGKILL' ? -pid : pid),
    };
  };
}

function send(signal: NodeJS.Signals, pid: number): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
