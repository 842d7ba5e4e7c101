import { join } from 'node:path';
import { pino } from 'pino';
import type { Log } from '../base/log.ts';

const secrets = ['token', 'hub_token', 'process_token', 'apiKey', 'authorization', 'password', 'secret'];

/** Diagnostics of one process, appended to `diagnostics.jsonl` in the state folder. Keys and tokens are left out by name. */
export function openDiagnostics(folder: string, level: string): Log {
  // as deep as an error holds the options it was made from
  const redact = secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  // written at once: the last lines before a kill are the ones that matter
  return pino(
    { level, redact },
    pino.destination({ dest: join(folder, 'diagnostics.jsonl'), append: true, sync: true }),
  );
}
