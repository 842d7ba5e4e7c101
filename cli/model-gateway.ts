import type { Log } from '../base/log.ts';
import { type PlatformModels, platformModels } from '../cnb/index.ts';
import type { Environment, FallbackSettings, ModelSettings } from '../config/index.ts';
import type { RepoConfig } from '../coordinator/repo-config.ts';
import type { HubClient } from '../hub-client/index.ts';
import {
  type DialectTable,
  type Gateway,
  type GatewayOptions,
  loadPrices,
  type ModelNames,
  type PriceTable,
  startGateway,
  type Tape,
} from '../llm/index.ts';
import type { RunEvent } from '../protocol/index.ts';
import { runEventOf } from './read/fold-run.ts';

/** The model settings of a process, and the platform's models where they stand in for a key. */
export type ModelSource = ModelSettings & { readonly platform?: PlatformModels };

/** The settings, with the platform's models when this is a build on CNB that was given neither a key nor another address. */
export function withPlatform(settings: ModelSettings, env: Environment): ModelSource {
  const given = settings.apiKey !== undefined || (env.OPENAI_BASE_URL ?? '').trim() !== '';
  const platform = given || !settings.platformModels ? undefined : platformModels(env);
  return platform ? { ...settings, platform } : settings;
}

/** That a run spends credits, for people; undefined when it does not. */
export function creditsNotice(source: ModelSource, language: 'zh-CN' | 'en'): string | undefined {
  if (!source.platform) return undefined;
  const { default: model } = modelNames(source);
  return language === 'zh-CN'
    ? `没有 OPENAI_API_KEY：使用 CNB 平台的模型 ${model}，消耗本组织的 AI 额度（NPC_PLATFORM_MODELS=off 可关闭，NPC_MODEL 可换模型）`
    : `no OPENAI_API_KEY: the platform's model ${model} is used and spends this organisation's AI credits (NPC_PLATFORM_MODELS=off forbids it, NPC_MODEL names another)`;
}

/** What is wrong with the model settings, in words that say the cure; undefined when a model can be asked. */
export function modelProblem(source: ModelSource, language: 'zh-CN' | 'en'): string | undefined {
  const { baseUrl, apiKey, model, platform } = source;
  if (platform) return undefined;
  const zh = language === 'zh-CN';
  if (model === undefined) {
    return zh
      ? '没有指定模型：请设置 NPC_MODEL（以及 OPENAI_BASE_URL 和 OPENAI_API_KEY）。'
      : 'No model is named: set NPC_MODEL, and OPENAI_BASE_URL and OPENAI_API_KEY to where it is.';
  }
  if (apiKey !== undefined || isLoopback(baseUrl)) return undefined;
  const { host } = new URL(baseUrl);
  return zh ? `没有 ${host} 的密钥：请设置 OPENAI_API_KEY。` : `There is no key for ${host}: set OPENAI_API_KEY.`;
}

/**
 * The variables without which no model can be asked whatever a repository's file says, in one line; undefined when there are none.
 * `mayBeNamed` says that there is such a file, which may name the model.
 */
export function missingVariables(source: ModelSource, mayBeNamed: boolean): string | undefined {
  const { baseUrl, apiKey, model, platform } = source;
  if (platform) return undefined;
  const missing = [
    ...(model === undefined && !mayBeNamed ? ['NPC_MODEL (the model to ask)'] : []),
    ...(apiKey === undefined && !isLoopback(baseUrl) ? [`OPENAI_API_KEY (the key for ${new URL(baseUrl).host})`] : []),
  ];
  return missing.length === 0 ? undefined : `no model can be asked: set ${missing.join(' and ')}`;
}

/** The names that the gateway asks its provider for. */
export function modelNames(source: ModelSource): ModelNames {
  const { platform, flashModel: flash, reviewModel: review, visionModel: vision } = source;
  const { model = platform?.models[0] ?? 'default' } = source;
  return { default: model, flash, review, vision };
}

/** The settings with the models that the repository's file names, where the environment names none. */
export function withRepoModels(settings: ModelSource, config: RepoConfig): ModelSource {
  return {
    ...settings,
    model: settings.model ?? config.model,
    flashModel: settings.flashModel ?? config.flash_model,
    reviewModel: settings.reviewModel ?? config.review_model,
  };
}

interface GatewayParts {
  readonly settings: ModelSource;
  readonly fallbacks: readonly FallbackSettings[];
  readonly proxies: NonNullable<GatewayOptions['proxies']>;
  readonly log: Log;
  /** Usage is logged under this client's name. */
  readonly client: HubClient;
  /** Usage that the log holds of this run already counts; absent for an agent that joins by hand. */
  readonly runKey?: string;
  readonly mask?: (text: string) => string;
  /** Of what people are told about a failed call. Default: English. */
  readonly language?: 'zh-CN' | 'en';
  /** When the run must be over, ms since epoch. */
  readonly deadline?: number | undefined;
  /** Default: read from the file that the settings name. */
  readonly prices?: PriceTable;
  /** What is known of the models from before. */
  readonly dialects?: DialectTable;
  /** Records what models are asked and answer, or answers instead; it is closed by whoever opened it. */
  readonly tape?: Tape | undefined;
  say(line: string): void;
  /** Takes what a model thinks, line by line; without it nobody is told. */
  readonly think?: ((line: string) => void) | undefined;
}

/**
 * Starts the gateway that all model traffic of this process and its agents goes through; it alone holds the key. Throws AppError
 * `misconfigured` when the file of prices cannot be used.
 */
export async function openGateway(parts: GatewayParts): Promise<Gateway> {
  const { settings, proxies, log, client, runKey, mask, deadline, say, think } = parts;
  const { firstByteMs, idleMs, progressMs, replyMs, requestsPerMinute, tokensPerMinute, window } = settings;
  const prices = parts.prices ?? (await loadPrices(settings.prices));
  const budget = budgetOf(settings, prices.rates);
  const record = async (event: RunEvent, taskId: string) => {
    await client.send({ type: 'task.event', to: 'hub', task_id: taskId, payload: { event } });
  };
  const logThought = (line: string, taskId: string) =>
    client.send({
      ...{ type: 'task.event', to: 'hub', task_id: taskId },
      payload: { event: { type: 'model.thought', line } },
    });
  const earlier = runKey === undefined ? undefined : await earlierWork(client, runKey);
  return startGateway({
    ...routesOf(settings, parts.fallbacks),
    models: modelNames(settings),
    proxies,
    timeouts: { firstByteMs, idleMs, progressMs, replyMs },
    pace: { requestsPerMinute, tokensPerMinute },
    concurrency: settings.modelConcurrency,
    ...{ budget, prices, log, record },
    ...(parts.language && { language: parts.language }),
    ...(parts.dialects && { dialects: parts.dialects }),
    ...(window !== undefined && { window }),
    ...(parts.tape && { tape: parts.tape }),
    onThinking({ role, taskId, logsThinking }, line) {
      think?.(`${role}: ${line}`);
      if (logsThinking) return;
      logThought(line, taskId).catch((error: unknown) => log.warn({ err: error }, 'a thought is not in the log'));
    },
    onNotice: say,
    ...(mask && { secretsMask: mask }),
    ...(deadline !== undefined && { timeLeftMs: () => deadline - Date.now() }),
    ...(earlier && { earlier: earlier.usage, earlierSeconds: earlier.seconds }),
  });
}

/** Where models are asked. The platform's own models stand in for each other only where a user named none. */
export function routesOf(
  { baseUrl, apiKey, model, fallbackModels, modelTools, platform }: ModelSource,
  others: readonly FallbackSettings[],
): Pick<GatewayOptions, 'upstream' | 'fallbackModels' | 'fallbacks'> {
  const fallbacks = others.map(fallbackOf);
  const tools = modelTools === 'auto' ? {} : { tools: modelTools };
  if (!platform) return { upstream: { baseURL: baseUrl, apiKey: apiKey ?? '', ...tools }, fallbackModels, fallbacks };
  // who wants another account gives a key and an address
  const settings = { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL', model: 'NPC_MODEL' };
  const common = { apiKey: platform.token, onCredits: true, settings };
  const upstream = { ...common, baseURL: platform.baseURL, ...tools };
  if (model !== undefined) return { upstream, fallbackModels, fallbacks };
  const plain = { ...common, baseURL: platform.plainBaseURL, tools: 'text' as const };
  return {
    upstream,
    fallbackModels: fallbackModels.length > 0 ? fallbackModels : platform.models.slice(1),
    fallbacks: [...fallbacks, plain],
  };
}

function fallbackOf({ baseUrl: baseURL, apiKey = '', model, variables: settings }: FallbackSettings) {
  return { baseURL, apiKey, settings, ...(model !== undefined && { models: { default: model } }) };
}

function budgetOf(settings: ModelSettings, rates: Readonly<Record<string, number>>) {
  const { budgetTokens: tokens, budgetMoney: money, budgetCalls: calls, budgetSeconds: seconds } = settings;
  return {
    ...{ tokens, rates },
    ...(money && { money }),
    ...(calls !== undefined && { calls }),
    ...(seconds !== undefined && { seconds }),
  };
}

/** What the log holds of the run's earlier processes: their usage, and how long each of them was at work. */
async function earlierWork(client: HubClient, runKey: string) {
  const usage: { event: RunEvent; taskId: string }[] = [];
  let ms = 0;
  let last: number | undefined;
  for await (const frame of client.readLog({ task_id: runKey, tree: true, type: 'task.event' })) {
    const event = runEventOf(frame);
    if (frame.from === client.name && event?.type === 'usage.recorded') usage.push({ event, taskId: frame.task_id });
    const { ts } = frame;
    if (ts === undefined) continue;
    // from the end of one process to the start of the next nobody works
    if (last !== undefined && event?.type !== 'run.started') ms += Math.max(0, ts - last);
    last = ts;
  }
  return { usage, seconds: ms / 1000 };
}

/** Whether an endpoint is on this machine. */
function isLoopback(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}
