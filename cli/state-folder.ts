import { accessSync, constants } from 'node:fs';
import { access, mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { AppError, messageOf } from '../base/errors.ts';
import { fileWords } from '../base/file-words.ts';
import { readStateFile, writeStateFile } from '../base/state-file.ts';
import type { Environment } from '../config/index.ts';
import { makeFolder } from './make-folder.ts';
import { startTimeOf } from './process-facts.ts';

/** `run.json` of a state folder: who works there, and where its hub listens. */
export const RunFile = z.object({
  run_key: z.string(),
  pid: z.int(),
  /** With the pid this names one process for good; see `startTimeOf`. */
  start_time: z.string(),
  hub_url: z.string(),
  /** Base URL of the run's model gateway, once it is open. */
  gateway_url: z.string().optional(),
  /** ms since epoch. */
  started: z.int(),
  /** First line of the request, for people. */
  goal: z.string(),
});
export type RunFile = z.infer<typeof RunFile>;

/**
 * The folder that holds one folder per run: below XDG_STATE_HOME or the home folder; below the temporary folder for a user whose
 * home cannot be written, as in a container with `--user`.
 */
export function stateRoot(environment: Environment): string {
  const { XDG_STATE_HOME: xdg, HOME: home = homedir() } = environment;
  if (xdg) return join(xdg, 'npc-crew');
  if (isWritable(home)) return join(home, '.local', 'state', 'npc-crew');
  return join(tmpdir(), `npc-crew-${process.getuid?.() ?? 'state'}`);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Files that a process opens in its state folder. */
const ownFiles = ['log.db', 'diagnostics.jsonl', 'run.json'];

/**
 * Makes the folder where it is not there (then only its owner can look inside) and returns its absolute path. Throws
 * `AppError('usage')` when nothing can be written there, `disk_full` when the disk is the reason.
 */
export async function makeStateFolder(path: string): Promise<string> {
  const folder = resolve(path);
  try {
    makeFolder(folder);
    // a mode tells nothing about a read-only disk, nor to root
    await rmdir(await mkdtemp(join(folder, '.try-')));
    for (const name of ownFiles) await mustBeFile(join(folder, name));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'disk_full' : 'usage';
    const message = `cannot use ${folder} as state folder: ${messageOf(error)}; name another with --state DIR`;
    throw new AppError(code, message, { cause: error });
  }
  return folder;
}

async function mustBeFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return;
  if (!found.isFile()) throw new Error(`${basename(path)} is no file`);
  await access(path, constants.R_OK | constants.W_OK);
}

/** The folder that a run works in. */
export interface StateFolder {
  readonly folder: string;
  /** Why it is not the one that was named but a temporary one, which `close` removes. */
  readonly problem?: string;
  close(): Promise<void>;
}

/** Makes the folder; where it cannot be used and a thread waits for an answer, a temporary one to give that answer from. */
export async function openStateFolder(path: string, thread: unknown): Promise<StateFolder> {
  try {
    return { folder: await makeStateFolder(path), close: async () => {} };
  } catch (error) {
    if (thread === undefined) throw error;
    const folder = await mkdtemp(join(tmpdir(), 'npc-crew-')).catch(() => {
      throw error;
    });
    return { folder, problem: messageOf(error), close: () => rm(folder, { recursive: true, force: true }) };
  }
}

/** Notes in `run.json` that this process works here now. A run that is taken up again keeps its first start. */
export async function noteRun(
  folder: string,
  run: { runKey: string; hubUrl: string; gatewayUrl?: string; goal: string },
): Promise<void> {
  const before = await readRunFile(folder);
  const file: RunFile = {
    run_key: run.runKey,
    pid: process.pid,
    start_time: await startTimeOf(process.pid),
    hub_url: run.hubUrl,
    ...(run.gatewayUrl !== undefined && { gateway_url: run.gatewayUrl }),
    started: before?.run_key === run.runKey ? before.started : Date.now(),
    goal: run.goal.trim().split('\n')[0] ?? '',
  };
  await writeStateFile(join(folder, 'run.json'), file);
}

/** The folder's `run.json`; undefined when it is absent, damaged (then set aside) or of another shape. */
export async function readRunFile(folder: string): Promise<RunFile | undefined> {
  const file = await readStateFile(join(folder, 'run.json'));
  if (file.state !== 'ok' && file.state !== 'restored') return undefined;
  return RunFile.safeParse(file.value).data;
}

/** What another living process does in this folder; undefined when there is none. */
export async function workIn(folder: string): Promise<RunFile | undefined> {
  const run = await readRunFile(folder);
  if (!run || run.pid === process.pid || run.start_time === '') return undefined;
  return (await startTimeOf(run.pid)) === run.start_time ? run : undefined;
}

/** Throws `AppError('usage')` while another process works in this folder: two would write one log. */
export async function mustBeFree(folder: string): Promise<void> {
  const other = await workIn(folder);
  if (!other) return;
  const cure = 'wait for it, or name another with --state DIR';
  throw new AppError('usage', `process ${other.pid} is at work in ${folder}: ${cure}`);
}

function noneWhereAbsent(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw new AppError('usage', `cannot look for runs: ${messageOf(error)}; name one with --state DIR`, { cause: error });
}

/** The log in a state folder. Throws `AppError('not_found')` where there is none, and `usage` where it may not be read. */
export async function logIn(folder: string): Promise<string> {
  const database = join(folder, 'log.db');
  await access(database, constants.R_OK).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') {
      throw new AppError('not_found', `${folder} holds no log.db; is it the state folder of a run?`, { cause });
    }
    throw new AppError('usage', `cannot read ${database}: ${fileWords(cause)}`, { cause });
  });
  return database;
}

/** State folder of the newest run under `root`. Throws `AppError('not_found')` when there is none. */
export async function newestRun(root: string): Promise<string> {
  let newest: { folder: string; started: number } | undefined;
  for (const entry of await readdir(root, { withFileTypes: true }).catch(noneWhereAbsent)) {
    if (!entry.isDirectory()) continue;
    const folder = join(root, entry.name);
    const run = await readRunFile(folder);
    if (run && (!newest || run.started > newest.started)) newest = { folder, started: run.started };
  }
  if (newest) return newest.folder;
  throw new AppError('not_found', `no run under ${root} yet: name one with --state DIR, --hub URL or --file FILE`);
}
