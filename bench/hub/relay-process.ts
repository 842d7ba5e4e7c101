/** One relay in a process of its own, asked about itself over IPC. */
import { answer, settings } from '../answer.ts';
import { type Stall, watchMemory, watchStalls } from '../watch.ts';
import type { RelaySettings } from './variants/relay.ts';
import { startRelay } from './variants/start-relay.ts';

const relay = await startRelay(settings<RelaySettings>());

let memory: ReturnType<typeof watchMemory> | undefined;
let stalls: ReturnType<typeof watchStalls> | undefined;

const handlers = {
  port: () => relay.port,
  /** CPU time of the whole process so far, all threads, user and system, in µs. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Resident memory; the first question starts the watch for the peak. */
  memory: () => {
    memory ??= watchMemory();
    return memory();
  },
  /** The longest stall; the first question starts the watch. */
  stalls: (): Stall => {
    stalls ??= watchStalls();
    return stalls();
  },
};
export type RelayHandlers = typeof handlers;

answer(handlers, () => relay.close());
