import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import {
  type Environment,
  type FallbackSettings,
  ModelSettings,
  PaceSettings,
  readConfig,
  readFallbacks,
} from '../../config/index.ts';
import type { CoordinatorOptions } from '../../coordinator/options.ts';
import type { Trigger } from '../../coordinator/trigger.ts';
import { loadPrices, type PriceTable } from '../../llm/index.ts';
import { type ModelSource, missingVariables, withPlatform } from '../model-gateway.ts';
import type { Errand } from './errand.ts';

/** What the environment says about a run's models and pace. */
export interface Readings {
  readonly settings: ModelSource;
  readonly fallbacks: readonly FallbackSettings[];
  readonly pace: Pick<CoordinatorOptions, 'mentionsEveryMs'>;
  readonly prices?: PriceTable;
  readonly wrong?: NonNullable<Errand['impossible']>;
}

/** The settings of a run. A wrong one ends it, but not before its comment says so: until then the defaults serve. */
export async function readSettings(env: Environment): Promise<Readings> {
  try {
    const settings = withPlatform(readConfig(ModelSettings, { environment: env }), env);
    const pace = readConfig(PaceSettings, { environment: env });
    return { settings, fallbacks: readFallbacks(env), pace, prices: await loadPrices(settings.prices) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const wrong = { cause: 'misconfigured', message: error.message } as const;
    return { settings: ModelSettings.parse({}), fallbacks: [], pace: {}, wrong };
  }
}

/** Where no thread waits for a comment, a variable that must be set is wrong usage. Throws AppError. */
export function checkModel(settings: ModelSource, { workspace }: Trigger): void {
  const missing = missingVariables(settings, existsSync(join(workspace, '.npc', 'config.yml')));
  if (missing !== undefined) throw new AppError('usage', missing);
}
