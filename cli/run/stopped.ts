import { writeFileSync } from 'node:fs';
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { environment, PlaceSettings, readConfig } from '../../config/index.ts';
import { makeStateFolder, stateRoot } from '../state-folder.ts';
import { readErrand } from './errand.ts';

/** Tells `finish` that the run in this folder was asked to end, by its signal's name, in case it cannot say so itself. */
export function noteStop(folder: string, signal: string): void {
  try {
    // at once: the next thing may be a SIGKILL
    writeFileSync(fileIn(folder), `${signal}\n`);
  } catch {
    // the run's own end says the same, and better
  }
}

/** A run that starts anew was not asked to end. */
export async function forgetStop(folder: string): Promise<void> {
  await rm(fileIn(folder), { force: true });
}

/** Whether the run in this folder was asked to end. */
export function wasStopped(folder: string): Promise<boolean> {
  return access(fileIn(folder)).then(
    () => true,
    () => false,
  );
}

/** The same for a run of a build that died before it could note anything. */
export async function noteUnanswered(options: { goal?: string; state?: string }, signal: string): Promise<void> {
  if (options.goal !== undefined) return;
  const env = environment();
  const errand = await readErrand({ drawnKey: '' }, env);
  if ('line' in errand) return;
  const places = readConfig(PlaceSettings, { flags: { state: options.state }, environment: env });
  try {
    noteStop(await makeStateFolder(places.state ?? join(stateRoot(env), errand.runKey)), signal);
  } catch {
    // without a state folder finish goes by what the platform says
  }
}

function fileIn(folder: string): string {
  return join(folder, 'stopped');
}
