import { AppError } from '../../base/errors.ts';
import type { Environment } from '../../config/index.ts';
import {
  environment,
  ModelSettings,
  PlaceSettings,
  readConfig,
  readFallbacks,
  readProxies,
} from '../../config/index.ts';
import { type CheckedModel, checkModel, type UpstreamOptions } from '../../llm/index.ts';
import { openDiagnostics } from '../diagnostics.ts';
import { Exit } from '../exit-code.ts';
import { creditsNotice, missingVariables, modelNames, routesOf, withPlatform } from '../model-gateway.ts';
import { print, say } from '../print.ts';
import { showProgress } from '../progress.ts';
import { modelCheckLines } from '../show/model-checks.ts';
import { abortOnSignal, type EndSignal, exitBySignal } from '../signals.ts';
import { makeStateFolder, stateRoot } from '../state-folder.ts';
import { GOOD_FOR_DAYS, keepDialects, modelFilePath } from './model-file.ts';

interface DoctorOptions {
  readonly json?: boolean;
}

/** Looks at the configured models, or at those that are named, and returns the exit code: red when the first cannot be worked with. */
export async function doctorModel(names: readonly string[], options: DoctorOptions): Promise<number> {
  const signal = abortOnSignal();
  try {
    return await look(names, options, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    say('npc-crew: ended before all was looked at; nothing was kept');
    return exitBySignal[signal.reason as EndSignal];
  }
}

async function look(names: readonly string[], options: DoctorOptions, signal: AbortSignal): Promise<number> {
  const env = environment();
  const targets = targetsOf(names, env);
  const { logLevel } = readConfig(PlaceSettings, { environment: env });
  const log = openDiagnostics(await makeStateFolder(stateRoot(env)), logLevel);
  const checked: CheckedModel[] = [];
  for (const { upstream, model } of targets) {
    let step = '';
    const progress = showProgress(() => `${model}: ${step}`);
    try {
      const onStep = (name: string) => {
        step = name;
      };
      const result = await checkModel({ upstream, model, proxies: readProxies(env), log, signal, onStep });
      checked.push(result);
      progress.end();
      if (!options.json) for (const line of modelCheckLines(result, process.stdout.columns)) await print(line);
    } finally {
      progress.end();
    }
  }
  if (options.json) await print(JSON.stringify(checked));
  const found = Object.assign({}, ...checked.map(({ dialects }) => dialects));
  if (Object.keys(found).length > 0) {
    const path = modelFilePath(env);
    await keepDialects(path, found, Date.now());
    say(`npc-crew: runs of this user keep to what was found out for ${GOOD_FOR_DAYS} days: ${path}`);
  }
  return checked[0]?.usable ? Exit.ok : Exit.red;
}

interface Target {
  readonly upstream: UpstreamOptions;
  readonly model: string;
}

/** Every model at every endpoint that a run may ask, each once. */
function targetsOf(names: readonly string[], env: Environment): Target[] {
  const settings = withPlatform(readConfig(ModelSettings, { environment: env }), env);
  const missing = missingVariables(settings, names.length > 0);
  if (missing !== undefined) throw new AppError('usage', missing);
  const notice = creditsNotice(settings, 'en');
  if (notice !== undefined) say(`npc-crew: ${notice}`);
  const { upstream, fallbackModels = [], fallbacks = [] } = routesOf(settings, readFallbacks(env));
  const own = Object.values(modelNames(settings)).filter((name) => name !== undefined);
  const asked = names.length > 0 ? names : [...own, ...fallbackModels];
  const others =
    names.length > 0 ? [] : fallbacks.map((one) => ({ upstream: one, model: one.models?.default ?? own[0] ?? '' }));
  const all = [...asked.map((model) => ({ upstream, model })), ...others];
  const seen = new Set<string>();
  return all.filter(({ upstream: { baseURL }, model }) => {
    const key = `${baseURL} ${model}`;
    return !seen.has(key) && seen.add(key);
  });
}
