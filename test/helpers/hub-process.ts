/** A hub as a process of its own, to be killed: `hub-process.ts DATABASE`; prints its address. */
import { silentLog } from '../../base/log.ts';
import { startHub } from '../../hub/index.ts';

// Whoever started it with a channel takes it along when it is killed.
process.on('disconnect', () => process.exit(1));
const hub = await startHub({
  port: 0,
  database: process.argv[2] ?? ':memory:',
  log: silentLog(),
  limits: { rate: 0, upgradesPerSecond: 0 },
});
process.stdout.write(`${hub.url}\n`);
