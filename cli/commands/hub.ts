import { join } from 'node:path';
import { Command } from 'commander';
import { AppError, messageOf } from '../../base/errors.ts';
import { environment, PlaceSettings, readConfig } from '../../config/index.ts';
import { openDiagnostics } from '../diagnostics.ts';
import { parsePort } from '../options.ts';
import { print, say } from '../print.ts';
import { aborted, abortOnSignal } from '../signals.ts';
import { makeStateFolder, mustBeFree, noteRun, stateRoot } from '../state-folder.ts';

interface Options {
  readonly port: number;
  readonly host: string;
  readonly state?: string;
}

/** `npc-crew hub`: a hub of its own, for agents and people to join. */
export function hubCommand(): Command {
  return new Command('hub')
    .description('start a hub that agents and people can join')
    .option('--port <N>', 'port to listen on; 0 takes a free one', parsePort, 8765)
    .option('--host <H>', 'address to listen on; other than loopback, every connection needs a token', '127.0.0.1')
    .option('--state <DIR>', 'folder for log.db; default: one per port under the state folder')
    .addHelpText(
      'after',
      `
Examples:
  $ npc-crew hub
  $ npx wscat -c 'ws://127.0.0.1:8765?agent=me'        then type {"type":"who"}
  $ npc-crew agent coder --hub ws://127.0.0.1:8765     a coder joins it
  $ npc-crew run --hub ws://127.0.0.1:8765 --goal "…"  work is given to whoever is there`,
    )
    .action(serve);
}

async function serve(options: Options): Promise<void> {
  const env = environment();
  const settings = readConfig(PlaceSettings, { flags: { state: options.state }, environment: env });
  const name = options.port === 0 ? `hub-${process.pid}` : `hub-${options.port}`;
  const folder = await makeStateFolder(settings.state ?? join(stateRoot(env), name));
  if (settings.state !== undefined) await mustBeFree(folder);
  const log = openDiagnostics(folder, settings.logLevel);
  const { startHub } = await import('../../hub/index.ts');
  const signal = abortOnSignal();
  const hub = await startHub({
    host: options.host,
    port: options.port,
    database: join(folder, 'log.db'),
    auth: isLoopback(options.host) ? 'none' : 'required',
    log,
  }).catch((error) => {
    if (!(error instanceof AppError) || error.code !== 'port_in_use') throw error;
    const cure = `take another with --port, or --port 0 for a free one`;
    throw new AppError('port_in_use', `port ${options.port} on ${options.host} is in use: ${cure}`, { cause: error });
  });
  await noteRun(folder, { runKey: name, hubUrl: hub.url, goal: `hub on ${hub.url}` });
  if (hub.setAside) say(`npc-crew: the old log was damaged and lies in ${hub.setAside}; this is a new one`);
  await print(hub.url);
  say(`npc-crew: hub is up; log in ${folder}`);
  let header = '';
  if (!isLoopback(options.host)) {
    const token = hub.grant({ scopes: ['work', 'assign', 'watch', 'admin'] });
    say(`every connection needs this token, as NPC_HUB_TOKEN or as "Authorization: Bearer": ${token}`);
    header = ` -H 'Authorization: Bearer ${token}'`;
  }
  say(`try it:   npx wscat -c '${hub.url}?agent=me'${header}   then type   {"type":"who"}`);
  say(`look at it:   npc-crew log --state ${folder}   (Ctrl-C ends the hub)`);
  const failure = await Promise.race([aborted(signal).then(() => undefined), hub.failed]);
  await hub.close();
  if (failure !== undefined) {
    throw new AppError('disk_full', `the log in ${folder} could not be written: ${messageOf(failure)}`, {
      cause: failure,
    });
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
