import type { HubOptions } from '../../../hub/index.ts';

/** The relays that are compared, the one that the others are measured by first. */
export const variants = ['original', 'raw', 'level-0', 'level-1', 'socket.io', 'socket.io-recovery'] as const;
export type Variant = (typeof variants)[number];

/** How a relay is started. */
export interface RelaySettings {
  readonly variant: Variant;
  /** Where it may keep files. */
  readonly folder: string;
  /** For our hub: what is not the default, beside the inbound rate, which is off. */
  readonly limits?: HubOptions['limits'];
  readonly clocks?: HubOptions['clocks'];
}

/** A relay that listens on a port of 127.0.0.1. */
export interface Relay {
  readonly port: number;
  close(): Promise<void>;
}
