import { z } from 'zod';

/** The models that a run uses, and where they are. */
export const ModelSettings = z.object({
  /** OpenAI-compatible endpoint, with its `/v1`. */
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .default('https://api.openai.com/v1')
    .meta({ env: 'OPENAI_BASE_URL' }),
  /** Key for it; may be missing for an endpoint on this machine. */
  apiKey: z.string().optional().meta({ env: 'OPENAI_API_KEY' }),
  /** Whether a run on CNB that has no key may use the platform's models. */
  platformModels: z.stringbool().default(true).meta({ env: 'NPC_PLATFORM_MODELS' }),
  /** Model of all roles. */
  model: z.string().optional().meta({ env: 'NPC_MODEL' }),
  /** Cheaper model for summaries; default: the main one. */
  flashModel: z.string().optional().meta({ env: 'NPC_FLASH_MODEL' }),
  /** Model that reviews and judges; default: the main one. */
  reviewModel: z.string().optional().meta({ env: 'NPC_REVIEW_MODEL' }),
  /** Model that reads pictures; default: none. */
  visionModel: z.string().optional().meta({ env: 'NPC_VISION_MODEL' }),
  /** Further models at the same endpoint, with commas between; tried in order when one fails. */
  fallbackModels: z
    .string()
    .transform((names) =>
      names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    )
    .default([])
    .meta({ env: 'NPC_FALLBACK_MODELS' }),
  /** Whether the endpoint takes tools; `text` puts them into the prompt, `auto` finds out. */
  modelTools: z.enum(['auto', 'native', 'text']).default('auto').meta({ env: 'NPC_MODEL_TOOLS' }),
  /** Model calls at once, over all agents. */
  modelConcurrency: z.coerce.number().int().min(1).max(100).default(4).meta({ env: 'NPC_MODEL_CONCURRENCY' }),
  /** Requests a minute to the endpoint; default: what it says of itself. */
  requestsPerMinute: z.coerce.number().positive().optional().meta({ env: 'NPC_REQUESTS_PER_MINUTE' }),
  /** Tokens a minute to the endpoint; default: what it says of itself. */
  tokensPerMinute: z.coerce.number().positive().optional().meta({ env: 'NPC_TOKENS_PER_MINUTE' }),
  /** ms until the first byte of an answer. */
  firstByteMs: z.coerce.number().int().min(100).default(180_000).meta({ env: 'NPC_MODEL_FIRST_BYTE_MS' }),
  /** ms between two bytes of an answer. */
  idleMs: z.coerce.number().int().min(100).default(90_000).meta({ env: 'NPC_MODEL_IDLE_MS' }),
  /** ms between two events of an answer that hold more than a sign of life. */
  progressMs: z.coerce.number().int().min(100).default(300_000).meta({ env: 'NPC_MODEL_PROGRESS_MS' }),
  /** ms for a whole answer. */
  replyMs: z.coerce.number().int().min(1000).default(1_800_000).meta({ env: 'NPC_MODEL_REPLY_MS' }),
  /** File of replies that are given again to the same request, instead of asking; default: none. */
  responseCache: z.string().optional().meta({ env: 'NPC_RESPONSE_CACHE' }),
  /** JSON or YAML file of prices and windows, which win over those that come with the program. */
  prices: z.string().optional().meta({ env: 'NPC_PRICES' }),
  /** Tokens that the context of `model` holds; default: what is known of it. */
  window: z.coerce.number().int().min(1_000).optional().meta({ env: 'NPC_CONTEXT_WINDOW' }),
  /** What one run may cost, as in `20 CNY`. */
  budgetMoney: z.string().transform(toMoney).optional().meta({ env: 'NPC_BUDGET_MONEY' }),
  /** Model calls that one run may make. */
  budgetCalls: z.coerce.number().int().positive().optional().meta({ env: 'NPC_BUDGET_CALLS' }),
  /** Seconds for which one run may ask models. */
  budgetSeconds: z.coerce.number().positive().optional().meta({ env: 'NPC_BUDGET_SECONDS' }),
  /** Tokens that one run may use. */
  budgetTokens: z.coerce.number().int().positive().default(3_000_000).meta({ env: 'NPC_BUDGET_TOKENS' }),
});
export type ModelSettings = Readonly<z.infer<typeof ModelSettings>>;

const signs: Readonly<Record<string, string>> = { '¥': 'CNY', '￥': 'CNY', 元: 'CNY', $: 'USD', '€': 'EUR' };

/** How often a run looks around. */
export const PaceSettings = z.object({
  /** ms between two looks for new comments in the thread, at least 1000. */
  mentionsEveryMs: z.coerce.number().int().min(1_000).default(30_000).meta({ env: 'NPC_MENTIONS_EVERY_MS' }),
});

/** Where things are kept, and how much is told. */
export const PlaceSettings = z.object({
  /** State folder of one run. */
  state: z.string().optional().meta({ env: 'NPC_STATE_DIR' }),
  /** Token for a hub that asks for one. */
  hubToken: z.string().optional().meta({ env: 'NPC_HUB_TOKEN' }),
  /** Whether what models think is shown while they work. It is in the message log all the same. */
  thinking: z.stringbool().default(true).meta({ env: 'NPC_THINKING' }),
  /** Level of the diagnostics: trace, debug, info, warn, error. */
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info').meta({ env: 'NPC_LOG_LEVEL' }),
});
export type PlaceSettings = Readonly<z.infer<typeof PlaceSettings>>;

/** `20 CNY`, `CNY 20` or `$5` as an amount; `¥` is CNY. */
function toMoney(text: string, context: z.RefinementCtx): { amount: number; currency: string } {
  const found = /^\s*(?:([A-Za-z]{3}|[¥￥$€])\s*)?(\d+(?:\.\d+)?)\s*([A-Za-z]{3}|元)?\s*$/.exec(text);
  const name = found?.[1] ?? found?.[3];
  if (found && name && !(found[1] && found[3])) {
    return { amount: Number(found[2]), currency: signs[name] ?? name.toUpperCase() };
  }
  context.addIssue({ code: 'custom', message: `"${text}" is no amount of money; it looks like "20 CNY" or "5 USD"` });
  return z.NEVER;
}
