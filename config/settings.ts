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
  /** Model of all roles. */
  model: z.string().optional().meta({ env: 'NPC_MODEL' }),
  /** Cheaper model for summaries; default: the main one. */
  flashModel: z.string().optional().meta({ env: 'NPC_FLASH_MODEL' }),
  /** Model that reviews and judges; default: the main one. */
  reviewModel: z.string().optional().meta({ env: 'NPC_REVIEW_MODEL' }),
  /** Model that reads pictures; default: none. */
  visionModel: z.string().optional().meta({ env: 'NPC_VISION_MODEL' }),
  /** Tokens that one run may use. */
  budgetTokens: z.coerce.number().int().positive().default(3_000_000).meta({ env: 'NPC_BUDGET_TOKENS' }),
});
export type ModelSettings = Readonly<z.infer<typeof ModelSettings>>;

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
  /** Level of the diagnostics: trace, debug, info, warn, error. */
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info').meta({ env: 'NPC_LOG_LEVEL' }),
});
export type PlaceSettings = Readonly<z.infer<typeof PlaceSettings>>;
