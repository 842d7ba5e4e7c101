import { setTimeout as delay } from 'node:timers/promises';
import type { Child, Children } from '../children.ts';
import { launcherOptions } from '../launcher.ts';
import type { ClientsHandlers } from './clients-process.ts';
import type { EchoFigures, FloodFigures } from './exchange.ts';
import type { RelayHandlers } from './relay-process.ts';
import type { Variant } from './variants/relay.ts';

/** The kinds of exchange that relays are measured by. */
export const works = ['echo 1', 'echo 64', 'flood'] as const;
export type Work = (typeof works)[number];

/** How large a measurement is. */
export interface CellSize {
  /** Frames of a flood, by their bytes. */
  readonly flood: Readonly<Record<number, number>>;
  /** Warm-up and window of an echo, ms; with one in flight far fewer messages pass, so that it warms up for longer. */
  readonly warmUp: number;
  readonly warmUpAlone: number;
  readonly window: number;
}

/** What one relay did with one kind of exchange; times in ms, CPU in µs per relayed message. */
export interface Cell {
  readonly work: Work;
  readonly bytes: number;
  readonly variant: Variant;
  readonly repetition: number;
  readonly messages: number;
  /** Relayed messages a second. */
  readonly rate: number;
  readonly cpu: number;
  readonly p50?: number;
  readonly p99?: number;
}

/** What is measured in one fresh relay process. */
export interface CellPlan {
  readonly variant: Variant;
  readonly bytes: number;
  readonly repetition: number;
  readonly works: readonly Work[];
  readonly size: CellSize;
  /** Where a CPU profile of the relay goes. */
  readonly profile?: string | undefined;
}

/** Messages that one client sends in a millisecond with one in flight, at most. */
const ALONE_PER_MS = 6;

/** What the relay still does after the last message (an acknowledgement, a late write) is its cost too. */
const SETTLE = 50;

/** Starts a relay and its clients, warms both up, and measures. */
export async function measureCell(children: Children, plan: CellPlan): Promise<Cell[]> {
  const { variant, bytes, repetition, size } = plan;
  const folder = await children.folder();
  const ours = variant === 'level-0' || variant === 'level-1' ? launcherOptions() : [];
  const profiling = plan.profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', plan.profile];
  const nodeOptions = [...ours, ...profiling];
  const relay = await children.start<RelayHandlers>('hub/relay-process', { variant, folder }, { core: 0, nodeOptions });
  const clients = await children.start<ClientsHandlers>('hub/clients-process', null, { core: 1 });
  const port = await relay.ask('port');
  await clients.ask('connect', { variant, port, bytes, frames: framesNeeded(plan) });
  await clients.ask('echo', { window: 64, ms: size.warmUp });
  const cells: Cell[] = [];
  for (const work of plan.works) {
    const { messages, seconds, cpu, ...times } = await measure(relay, work, {
      warmUp: async () => {
        if (work !== 'flood') await clients.ask('echo', { window: windowOf(work), ms: warmUpOf(work, size) });
      },
      run: () =>
        work === 'flood'
          ? clients.ask('flood', size.flood[bytes] ?? 1_000)
          : clients.ask('echo', { window: windowOf(work), ms: size.window }),
    });
    cells.push({ work, bytes, variant, repetition, messages, rate: messages / seconds, cpu: cpu / messages, ...times });
  }
  await clients.end();
  await relay.end();
  await children.removeFolder(folder);
  return cells;
}

async function measure(
  relay: Child<RelayHandlers>,
  work: Work,
  steps: { warmUp: () => Promise<void>; run: () => Promise<FloodFigures | EchoFigures> },
): Promise<(FloodFigures | EchoFigures) & { cpu: number }> {
  await steps.warmUp();
  await delay(SETTLE);
  const before = await relay.ask('cpu');
  const figures = await steps.run();
  await delay(SETTLE);
  const cpu = (await relay.ask('cpu')) - before;
  if (figures.messages === 0) throw new Error(`${work}: nothing was relayed`);
  return { ...figures, cpu };
}

function windowOf(work: Work): number {
  return work === 'echo 1' ? 1 : 64;
}

function warmUpOf(work: Work, { warmUp, warmUpAlone }: CellSize): number {
  return work === 'echo 1' ? warmUpAlone : warmUp;
}

/** Frames that a client may send; a fast machine builds the rest as it goes. */
function framesNeeded({ bytes, size, works }: CellPlan): number {
  const perMs = bytes > 1_000 ? 8 : 16;
  const flood = works.includes('flood') ? (size.flood[bytes] ?? 0) : 0;
  const alone = works.includes('echo 1') ? ALONE_PER_MS * (size.warmUpAlone + size.window) : 0;
  const many = size.warmUp + (works.includes('echo 64') ? size.warmUp + size.window : 0);
  return flood + alone + perMs * many;
}
