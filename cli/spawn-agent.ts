import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { AppError } from '../base/errors.ts';
import type { Environment } from '../config/index.ts';
import { startTimeOf } from './process-facts.ts';

/** One agent process to start. */
export interface AgentOrder {
  readonly role: string;
  readonly name: string;
  /** Command line of another coding program that plays the role. */
  readonly exec?: string;
  /** Token of its connection to the hub. */
  readonly hubToken: string;
  /** Token with which it asks the gateway for the tokens of its attempts. */
  readonly processToken: string;
}

export interface AgentProcess {
  readonly pid: number;
  /** See `startTimeOf`. */
  readonly startTime: string;
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ readonly exit: number | null; readonly signal: string | null }>;
  /** Asks the process to end; ends it hard, with its process group, two seconds later. */
  kill(): void;
}

export interface SpawnOptions {
  readonly hubUrl: string;
  readonly gatewayUrl: string;
  readonly stateDir: string;
  /** An allow-list; see `childEnv`. */
  readonly env: Environment;
  /** Gets each line that an agent writes to stderr, with its name in front. */
  readonly say: (line: string) => void;
  /** dist/cli/main.js */
  readonly main: string;
}

const HARD_KILL_MS = 2000;

/** Starts role agents as processes of their own. Secrets go through stdin, never through arguments or the environment. */
export function agentSpawner(options: SpawnOptions): (order: AgentOrder) => Promise<AgentProcess> {
  return async (order) => {
    const args = ['agent', order.role, '--name', order.name, '--hub', options.hubUrl, '--gateway', options.gatewayUrl];
    args.push(
      '--state',
      options.stateDir,
      '--token-stdin',
      ...(order.exec === undefined ? [] : ['--exec', order.exec]),
    );
    // a group of its own: Ctrl-C in a terminal reaches the run, which ends its agents in order
    const child = spawn(process.execPath, [...process.execArgv, options.main, ...args], {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: options.env,
      detached: true,
    });
    const exited = new Promise<{ exit: number | null; signal: string | null }>((resolve) => {
      child.once('exit', (exit, signal) => resolve({ exit, signal }));
      child.once('error', () => resolve({ exit: null, signal: null }));
    });
    const { pid } = child;
    if (pid === undefined)
      throw new AppError('internal', `could not start ${order.name}: ${process.execPath} does not run`);
    // an agent that dies at once closes the pipe; `exited` tells
    child.stdin.on('error', () => {});
    child.stdin.end(`${JSON.stringify({ hub_token: order.hubToken, process_token: order.processToken })}\n`);
    createInterface({ input: child.stderr }).on('line', (line) => options.say(`${order.name}: ${line}`));
    // whatever it left behind in its group goes with it
    void exited.then(() => signalTo(-pid, 'SIGKILL'));
    return { pid, startTime: await startTimeOf(pid), exited, kill: () => end(pid, exited) };
  };
}

function end(pid: number, exited: Promise<unknown>): void {
  signalTo(pid, 'SIGTERM');
  const hard = setTimeout(() => signalTo(-pid, 'SIGKILL'), HARD_KILL_MS);
  void exited.then(() => clearTimeout(hard));
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
