/** One relay in a process of its own, asked about itself over IPC. */
import { answer, settings } from '../answer.ts';
import type { RelaySettings } from './variants/relay.ts';
import { startRelay } from './variants/start-relay.ts';

const relay = await startRelay(settings<RelaySettings>());

const handlers = {
  port: () => relay.port,
  /** CPU time of the whole process so far, all threads, user and system, in µs. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};
export type RelayHandlers = typeof handlers;

answer(handlers, () => relay.close());
