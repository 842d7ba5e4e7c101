import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { environment, PlaceSettings, readConfig } from '../../config/index.ts';
import type { AgentRow, Envelope, TaskRow } from '../../protocol/index.ts';
import { newestRun, stateRoot } from '../state-folder.ts';
import { foldAgents, foldTasks, type SeenAgent } from './fold.ts';
import { readLogFile } from './log-file.ts';

/** Where a run can be looked at: its state folder, its hub, or a log file kept from it. */
export interface Source {
  /** Every frame of the log, in order. */
  frames(): AsyncIterable<Envelope>;
  tasks(): Promise<readonly TaskRow[]>;
  agents(): Promise<readonly (AgentRow | SeenAgent)[]>;
  close(): Promise<void>;
}

export interface SourceOptions {
  readonly state?: string;
  readonly hub?: string;
  readonly file?: string;
}

export function addSourceOptions(command: Command): Command {
  return command
    .option('--state <DIR>', 'state folder of a run; default: the newest run')
    .option('--hub <URL>', 'hub that is up, as in ws://127.0.0.1:8765')
    .option('--file <FILE>', 'log file kept from a run, run.jsonl.gz or plain');
}

/** Opens what the options name; without any of them NPC_STATE_DIR, else the newest run. */
export async function openSource(options: SourceOptions): Promise<Source> {
  const named = [options.state, options.hub, options.file].filter((value) => value !== undefined);
  if (named.length > 1) throw new AppError('usage', 'only one of --state, --hub and --file can be read');
  if (options.file !== undefined) return fileSource(options.file);
  if (options.hub !== undefined) return hubSource(options.hub);
  const env = environment();
  const { state } = readConfig(PlaceSettings, { flags: { state: options.state }, environment: env });
  return stateSource(state ?? (await newestRun(stateRoot(env))));
}

function fileSource(path: string): Source {
  const frames = () => readLogFile(path);
  return { frames, tasks: () => foldTasks(frames()), agents: () => foldAgents(frames()), close: async () => {} };
}

async function stateSource(folder: string): Promise<Source> {
  const database = join(folder, 'log.db');
  await access(database).catch((error) => {
    throw new AppError('not_found', `${folder} holds no log.db; is it the state folder of a run?`, { cause: error });
  });
  // loaded when needed: other commands start without a database
  const { readLog, readTasks } = await import('../../hub/index.ts');
  const frames = () => readLog(database);
  return { frames, tasks: () => readTasks(database), agents: () => foldAgents(frames()), close: async () => {} };
}

async function hubSource(url: string): Promise<Source> {
  const { connectHub } = await import('../../hub-client/index.ts');
  const { hubToken } = readConfig(PlaceSettings, { environment: environment() });
  const client = await connectHub({
    url,
    name: `cli-${process.pid}`,
    log: silentLog(),
    reconnect: { baseMs: 100, capMs: 500, connectMs: 2000, giveUpMs: 2000 },
    ...(hubToken !== undefined && { token: hubToken }),
  });
  return {
    frames: () => client.readLog({}),
    tasks: () => client.tasks(),
    agents: () => client.agents(),
    close: () => client.close(),
  };
}
