import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Environment } from '../../config/index.ts';
import type { Forge } from '../../coordinator/forge.ts';
import type { Journal } from '../../coordinator/journal.ts';
import type { OpenedWorkshop } from '../../coordinator/run.ts';
import type { Trigger } from '../../coordinator/trigger.ts';

interface WorkshopOptions {
  readonly trigger: Trigger;
  readonly runKey: string;
  readonly folder: string;
  readonly forge: Forge | undefined;
  readonly env: Environment;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Opens the repository that the run works in. */
export function workshopOpener(options: WorkshopOptions): (journal: Journal) => Promise<OpenedWorkshop> {
  return () =>
    Promise.reject(new AppError('internal', `the workshop for ${options.trigger.workspace} is still to be wired`));
}
