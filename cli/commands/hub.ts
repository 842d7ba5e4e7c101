import { join } from 'node:path';
import { Command, Option } from 'commander';
import { AppError, messageOf } from '../../base/errors.ts';
import { environment, PlaceSettings, readConfig } from '../../config/index.ts';
import { checkAddress } from '../../hub/listen.ts';
import { isLoopback } from '../../hub/loopback.ts';
import { openDiagnostics } from '../diagnostics.ts';
import { addHubFlags, readHubFlags } from '../hub-flags.ts';
import { tokenFileIn } from '../hub-token.ts';
import { parseList, parsePort } from '../options.ts';
import { print, say } from '../print.ts';
import { aborted, abortOnSignal } from '../signals.ts';
import { makeStateFolder, mustBeFree, noteRun, stateRoot } from '../state-folder.ts';
import { openTokenFile, readTokenFile } from '../token-file.ts';
import { version } from '../version.ts';

interface Options {
  readonly port: number;
  readonly host: string;
  readonly state?: string;
  readonly auth?: 'none' | 'required';
  readonly tokenFile?: string;
  readonly hostName?: readonly string[];
  readonly origin?: readonly string[];
}

/** `npc-crew hub`: a hub of its own, for agents and people to join. */
export function hubCommand(): Command {
  const command = new Command('hub')
    .description('start a hub that agents and people can join')
    .option('--port <N>', 'port to listen on; 0 takes a free one', parsePort, 8765)
    .option('--host <H>', 'address to listen on; other than loopback, every connection needs a token', '127.0.0.1')
    .option('--state <DIR>', 'folder for log.db; default: one per port under the state folder')
    .optionsGroup('Who is let in:')
    .addOption(
      new Option('--auth <WHEN>', 'whether a token is needed; default: none on loopback, else required').choices([
        'none',
        'required',
      ]),
    )
    .option('--token-file <FILE>', 'file of the token, made when it is not there; default: token in the state folder')
    .option('--host-name <NAME>', 'further name that the hub may be called by, with or without port', parseList)
    .option('--origin <URL>', 'origin of a browser page that may connect', parseList);
  return addHubFlags(command)
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

/** Whoever names a token file wants it to be asked for. */
function authOf({ auth, host, tokenFile }: Options): 'none' | 'required' {
  if (auth === 'none' && tokenFile !== undefined)
    throw new AppError('usage', '--token-file is of no use with --auth none');
  return auth ?? (isLoopback(host) && tokenFile === undefined ? 'none' : 'required');
}

async function serve(options: Options): Promise<void> {
  const flags = readHubFlags({ ...options });
  const auth = authOf(options);
  const env = environment();
  const settings = readConfig(PlaceSettings, { flags: { state: options.state }, environment: env });
  const name = options.port === 0 ? `hub-${process.pid}` : `hub-${options.port}`;
  // all that can be wrong is told before anything is made for a hub that does not come
  await checkAddress(options.host, options.port).catch((error: unknown) => portError(error, options));
  if (options.tokenFile !== undefined) await readTokenFile(options.tokenFile).catch(unlessAbsent);
  const folder = await makeStateFolder(settings.state ?? join(stateRoot(env), name));
  if (settings.state !== undefined) await mustBeFree(folder);
  const tokenFile = options.tokenFile ?? tokenFileIn(folder);
  const token = auth === 'required' ? (await openTokenFile(tokenFile)).token : undefined;
  const log = openDiagnostics(folder, settings.logLevel);
  const { startHub } = await import('../../hub/index.ts');
  const signal = abortOnSignal();
  const hub = await startHub({
    host: options.host,
    port: options.port,
    database: join(folder, 'log.db'),
    auth,
    ...(token !== undefined && { token }),
    hostNames: options.hostName ?? [],
    origins: options.origin ?? [],
    ...flags,
    version,
    log,
  }).catch((error: unknown) => portError(error, options));
  await noteRun(folder, { runKey: name, hubUrl: hub.url, goal: `hub on ${hub.url}` });
  if (hub.setAside) say(`npc-crew: the old log was damaged and lies in ${hub.setAside}; this is a new one`);
  await print(hub.url);
  say(`npc-crew: hub is up; log in ${folder}`);
  let header = '';
  if (token !== undefined) {
    say(`every connection needs the token in ${tokenFile}: --token-file FILE, NPC_HUB_TOKEN, "Authorization: Bearer"`);
    header = ` -H "Authorization: Bearer $(cat '${tokenFile}')"`;
  }
  say(`try it:   npx wscat -c '${hub.url}?agent=me'${header}   then type   {"type":"who"}`);
  say(`look at it:   npc-crew log --state ${folder}   (Ctrl-C ends the hub)`);
  const failure = await Promise.race([aborted(signal).then(() => undefined), hub.failed]);
  if (failure === undefined) say(`npc-crew: closing…; the log is in ${folder}`);
  await hub.close();
  if (failure !== undefined) {
    throw new AppError('disk_full', `the log in ${folder} could not be written: ${messageOf(failure)}`, {
      cause: failure,
    });
  }
}

/** A port in use, with the flags that mend it; other faults as they are. */
function portError(error: unknown, { host, port }: Options): never {
  if (!(error instanceof AppError) || error.code !== 'port_in_use') throw error;
  const cure = `take another with --port, or --port 0 for a free one`;
  throw new AppError('port_in_use', `port ${port} on ${host} is in use: ${cure}`, { cause: error });
}

function unlessAbsent(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}
