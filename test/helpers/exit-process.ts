/** A process that ends while the thread beside its log is reading: `exit-process.ts DATABASE PAUSE-MS`, exit 7. */
import { openStorage } from '../../hub/sqlite-storage.ts';

const [path = '', pause = '0'] = process.argv.slice(2);
const { storage } = await openStorage(path);
await storage.tasks({ newest: 5000 });
setTimeout(() => process.exit(7), Number(pause));
for (;;) await storage.tasks({ newest: 5000 });
