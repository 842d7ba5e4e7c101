import { type ChildProcess, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Children } from './children.ts';

/** The program, where this machine has it. */
export function findNatsServer(): string | undefined {
  return ['nats-server', '/usr/sbin/nats-server'].find((path) => spawnSync(path, ['--version']).status === 0);
}

/** A NATS server with JetStream on files. */
export interface NatsServer {
  readonly port: number;
  /** CPU time of the whole process so far, µs. */
  cpu(): Promise<number>;
  end(): Promise<void>;
}

/** Starts it on a free port of 127.0.0.1. */
export async function startNatsServer(children: Children, path: string, folder: string): Promise<NatsServer> {
  const port = await freePort();
  const args = ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port)];
  const child = children.spawn(path, args, 0, ['ignore', 'ignore', 'ignore']);
  await untilListening(child, port);
  return { port, cpu: () => cpuOf(child.pid as number), end: () => children.stop(child) };
}

/** Clock ticks of the kernel's table are 10 ms on every Linux of today. */
const TICK_US = 10_000;

async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const open = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (open) return;
    await delay(50);
  }
  throw new Error('nats-server does not listen');
}
