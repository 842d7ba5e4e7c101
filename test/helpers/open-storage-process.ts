/** Opens a store in a process of its own, to be killed: `open-storage-process.ts DATABASE`; prints how far it is. */
import { pino } from 'pino';
import { openStorage } from '../../hub/sqlite-storage.ts';

const { storage } = await openStorage(process.argv[2] ?? '', { log: pino(pino.destination({ dest: 1, sync: true })) });
await storage.close();
