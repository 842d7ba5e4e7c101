import type { Log } from '../../base/log.ts';
import { type Environment, type FallbackSettings, secretValues } from '../../config/index.ts';
import { bothTapes, type Cassette, openPlayer, openRecorder, type Setup, type Tape } from '../../llm/index.ts';
import { type ModelSource, modelNames, routesOf } from '../model-gateway.ts';
import { openCache } from '../response-cache.ts';
import { version } from '../version.ts';

/** Where models are asked. */
export interface Sources {
  readonly settings: ModelSource;
  readonly fallbacks: readonly FallbackSettings[];
}

interface TapeParts extends Sources {
  /** File to record into. */
  readonly record?: string | undefined;
  /** An earlier process of this run recorded into it. */
  readonly goOn: boolean;
  /** What is played, and its file. */
  readonly cassette?: Cassette | undefined;
  readonly replay?: string | undefined;
  readonly runKey: string;
  readonly folder: string;
  readonly workspace: string;
  readonly env: Environment;
  /** Secrets beside those of the environment and the model keys. */
  readonly secrets: readonly (string | undefined)[];
  readonly language: 'zh-CN' | 'en';
  readonly log: Log;
  say(line: string): void;
}

/** The tape of a run that was told to record or to replay, or has a response cache; undefined for others. Throws AppError when a file cannot be used. */
export async function openTape(parts: TapeParts): Promise<Tape | undefined> {
  const { record, goOn, cassette, replay = '', runKey, folder, workspace, env, language, log, say } = parts;
  const { settings, fallbacks } = parts;
  const names = { run: runKey, state: folder, repo: workspace };
  const keys = [settings.apiKey, settings.platform?.token, ...fallbacks.map(({ apiKey }) => apiKey)];
  const secrets = [...secretValues(env), ...keys, ...parts.secrets].filter((secret) => secret !== undefined);
  if (cassette) {
    const tape = openPlayer(cassette, { path: replay, names, secrets, language, log, onNotice: say });
    say(tape.title);
    return tape;
  }
  const cache = await openCache({ settings, env, log, say });
  if (record === undefined) return cache;
  const recorder = await openRecorder({
    ...{ path: record, goOn, program: `npc-crew ${version}`, names, secrets, log },
    setup: setupOf(parts),
    onFailure: (words) =>
      say(
        language === 'zh-CN'
          ? `npc-crew: 录制中断，${record} 不再写入：${words}`
          : `npc-crew: the recording ends here, ${record} cannot be written any more: ${words}`,
      ),
  });
  return bothTapes(recorder, cache);
}

/** The settings of a replay: where and what was asked is as it was recorded, and a model that is named now is asked for. */
export function asRecorded({ settings, fallbacks }: Sources, setup: Setup | undefined): Sources {
  const { platform: _, apiKey: __, ...own } = settings;
  if (!setup) return { settings: own, fallbacks };
  const { models } = setup;
  return {
    settings: {
      ...own,
      baseUrl: setup.base_url,
      model: own.model ?? models.default,
      flashModel: own.flashModel ?? models.flash,
      reviewModel: own.reviewModel ?? models.review,
      visionModel: own.visionModel ?? models.vision,
      fallbackModels: setup.fallback_models,
      window: own.window ?? setup.window,
    },
    fallbacks: setup.fallbacks.map(({ base_url: baseUrl, model }) => ({
      ...{ baseUrl, apiKey: undefined, model },
      variables: { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL', model: 'NPC_MODEL' },
    })),
  };
}

function setupOf({ settings, fallbacks }: Sources): Setup {
  const routes = routesOf(settings, fallbacks);
  const { default: model, ...models } = modelNames(settings);
  const isNamed = settings.model !== undefined || settings.platform !== undefined;
  return {
    base_url: withoutQuery(routes.upstream.baseURL),
    models: { ...models, ...(isNamed && { default: model }) },
    fallback_models: [...(routes.fallbackModels ?? [])],
    fallbacks: (routes.fallbacks ?? []).map(({ baseURL, models: own }) => ({
      base_url: withoutQuery(baseURL),
      ...(own && { model: own.default }),
    })),
    ...(settings.window !== undefined && { window: settings.window }),
  };
}

/** Some put a version there, and some a key. */
function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}
