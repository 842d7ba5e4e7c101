import type { Command } from 'commander';
import { environment, PlaceSettings, readConfig } from '../../config/index.ts';
import { findHubToken } from '../hub-token.ts';
import { onlyOne } from '../options.ts';
import { newestRun, stateRoot } from '../state-folder.ts';
import type { Source } from './source.ts';

/** Where to look, as a person names it. */
export interface SourceOptions {
  readonly state?: string;
  readonly hub?: string;
  readonly file?: string;
  readonly tokenFile?: string;
}

export function addSourceOptions(command: Command): Command {
  return command
    .option('--state <DIR>', 'state folder of a run; default: the newest run')
    .option('--hub <URL>', 'hub that is up, as in ws://127.0.0.1:8765')
    .option('--token-file <FILE>', 'file of the token for it; default: the variable NPC_HUB_TOKEN')
    .option('--file <FILE>', 'log file kept from a run, run.jsonl.gz or plain');
}

/**
 * Opens what the options name; without any of them NPC_STATE_DIR, else the newest run. A hub that goes away may be away for
 * `patienceMs`.
 */
export async function openSource(options: SourceOptions, patienceMs = 2000): Promise<Source> {
  onlyOne({ '--state': options.state, '--hub': options.hub, '--file': options.file });
  // each is loaded when needed: a file is read without a database, a folder without a socket
  if (options.file !== undefined) return (await import('./file-source.ts')).fileSource(options.file);
  if (options.hub !== undefined) {
    const token = await findHubToken(options);
    return (await import('./hub-source.ts')).hubSource(options.hub, patienceMs, {
      token,
      tokenFile: options.tokenFile,
    });
  }
  return (await import('./state-source.ts')).stateSource(await stateFolder(options.state));
}

/** The state folder that is named, by NPC_STATE_DIR too; else that of the newest run. */
export async function stateFolder(named: string | undefined): Promise<string> {
  const env = environment();
  const { state } = readConfig(PlaceSettings, { flags: { state: named }, environment: env });
  return state ?? (await newestRun(stateRoot(env)));
}
