import { setTimeout as delay } from 'node:timers/promises';
import type { Children } from '../children.ts';
import { launcherOptions } from '../launcher.ts';
import type { Stall } from '../watch.ts';
import type { IdleHandlers } from './idle-process.ts';
import type { RelayHandlers } from './relay-process.ts';

/** What many idle level-1 connections cost; memory in bytes, stalls in ms. */
export interface IdleFigures {
  readonly connections: number;
  /** Resident memory before the first one, and when all were there and had been pinged. */
  readonly before: number;
  readonly after: number;
  /** Period of the ping. The hub's own is 30 s; a shorter one means as many times more pings a second. */
  readonly pingMs: number;
  readonly pings: number;
  /** The longest stall while all of them were pinged once, and in an equal time before there was any: what the machine does. */
  readonly stall: Stall;
  readonly stallBefore: Stall;
}

/** Opens connections, and watches the hub through one period of its pings. */
export async function benchIdle(
  children: Children,
  { connections, pingMs }: { connections: number; pingMs: number },
  say: (line: string) => void,
): Promise<IdleFigures> {
  requireDescriptors(connections + 100);
  const folder = await children.folder();
  const limits = { connections: connections + 10, upgradesPerSecond: 0 };
  const settings = { variant: 'level-1', folder, limits, clocks: { ping: pingMs, pong: pingMs / 3 } };
  const relay = await children.start<RelayHandlers>('hub/relay-process', settings, {
    core: 0,
    nodeOptions: launcherOptions(),
  });
  const clients = await children.start<IdleHandlers>('hub/idle-process', null, { core: 1 });
  const watch = async () => {
    await relay.ask('stalls');
    await delay(pingMs * 1.1);
    return relay.ask('stalls');
  };
  const stallBefore = await watch();
  const { now: before } = await relay.ask('memory');
  say(`idle: opening ${connections} connections`);
  await clients.ask('connect', { port: await relay.ask('port'), count: connections });
  await delay(1_000);
  await clients.ask('count');
  say(`idle: all are open; watching them for ${(pingMs * 1.1) / 1000} s`);
  const stall = await watch();
  const { open, pings } = await clients.ask('count');
  const { now: after } = await relay.ask('memory');
  await clients.end();
  await relay.end();
  await children.removeFolder(folder);
  if (open !== connections) throw new Error(`idle: only ${open} of ${connections} connections are still open`);
  if (pings < connections * 0.9) throw new Error(`idle: only ${pings} pings came`);
  return { connections, before, after, pingMs, pings, stall, stallBefore };
}

/** Both ends of a connection need a descriptor each, in processes of their own. */
function requireDescriptors(count: number): void {
  const report = process.report.getReport() as unknown as {
    userLimits?: { open_files?: { hard: number | string } };
  };
  const hard = report.userLimits?.open_files?.hard;
  if (typeof hard === 'number' && hard < count) {
    throw new Error(`idle: ${count} open files are needed and ${hard} allowed; raise the limit (ulimit -Hn)`);
  }
}
