import { join } from 'node:path';
import { silentLog } from '../../../base/log.ts';
import { startHub } from '../../../hub/index.ts';
import type { Relay, RelaySettings } from './relay.ts';

/** Our hub as people run it, its log in a file; only the inbound rate is off. */
export async function startOurs({ folder, limits, clocks = {} }: RelaySettings): Promise<Relay> {
  return startHub({
    port: 0,
    database: join(folder, 'log.db'),
    log: silentLog(),
    auth: 'none',
    limits: { rate: 0, ...limits },
    clocks,
  });
}
