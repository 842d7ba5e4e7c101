import { availableParallelism, cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { canPin } from './children.ts';

/** What a reader must know of the machine to judge its figures. */
export interface Machine {
  readonly cores: number;
  readonly node: string;
  readonly system: string;
  /** Whether the measured processes had a core of their own. */
  readonly pinned: boolean;
  /** Share of all cores, 0 to 1, that other work took before the bench began. */
  readonly busy: number;
}

/** Looks at the machine for a second; call it before anything is started. */
export async function describeMachine(): Promise<Machine> {
  const before = cpuTimes();
  await delay(1_000);
  const after = cpuTimes();
  return {
    cores: availableParallelism(),
    node: process.versions.node,
    system: `${process.platform} ${process.arch}`,
    pinned: canPin,
    busy: 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all),
  };
}

function cpuTimes(): { idle: number; all: number } {
  const times = cpus().map(({ times }) => times);
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  };
}
