import type { SizedModel } from '../../agents/runtime.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { environment, ModelSettings, readConfig, readFallbacks, readProxies } from '../../config/index.ts';
import { ModelError } from '../../core/model.ts';
import type { AssignedTask, HubClient } from '../../hub-client/index.ts';
import { openGatewayModel, takeAttempt } from '../../llm/index.ts';
import { modelFilePath, readDialects } from '../doctor/model-file.ts';
import { creditsNotice, modelProblem, openGateway, withPlatform } from '../model-gateway.ts';
import { openCache } from '../response-cache.ts';

/** Where an agent's models come from: the gateway of a run, or one of its own. */
export interface AgentModels {
  /** The model for one attempt. Rejects with `ModelError` when the gateway refuses it. */
  open(task: AssignedTask): Promise<SizedModel>;
  /** The gateway as another program sees it, with a token that is good for this attempt alone; nothing where there is none. */
  variablesFor(task: AssignedTask): Promise<Record<string, string>>;
  close(): Promise<void>;
}

interface ModelsOptions {
  readonly role: string;
  readonly client: HubClient;
  /** Gateway of a run, and the token that agents get attempts with. */
  readonly gateway?: { readonly url: string; readonly processToken: string };
  /** Whether the role can do without a model of ours, because another program plays it. */
  readonly optional: boolean;
  readonly log: Log;
  say(line: string): void;
  /** Takes what a model thinks, where this process asks it. */
  readonly think?: (line: string) => void;
}

/**
 * Uses the gateway that is named; without one, an agent that joined by hand serves itself with the OPENAI_* it was given.
 * Throws `AppError('misconfigured')` when neither is there and the role needs a model.
 */
export async function openModels(options: ModelsOptions): Promise<AgentModels> {
  const { role, client, gateway, optional, log, say, think } = options;
  if (gateway) return modelsAt(gateway, async () => {});
  const env = environment();
  const settings = withPlatform(readConfig(ModelSettings, { environment: env }), env);
  const problem = modelProblem(settings, 'en');
  if (problem === undefined) {
    const notice = creditsNotice(settings, 'en');
    if (notice !== undefined) say(`npc-crew: ${notice}`);
    const cache = await openCache({ settings, env, log, say });
    const own = await openGateway({
      ...{ settings, fallbacks: readFallbacks(env), proxies: readProxies(env) },
      ...{ log, client, say, think, tape: cache },
      dialects: await readDialects(modelFilePath(env), Date.now()),
    });
    const processToken = own.grantProcess({ agent: client.name, role });
    return modelsAt({ url: own.url, processToken }, async () => {
      await own.close();
      await cache?.close();
    });
  }
  if (!optional) throw new AppError('misconfigured', problem);
  const none = () => Promise.reject(new ModelError('auth', problem, { retryable: false }));
  return { open: none, variablesFor: async () => ({}), close: async () => {} };
}

function modelsAt(
  { url, processToken }: NonNullable<ModelsOptions['gateway']>,
  close: () => Promise<void>,
): AgentModels {
  const attempt = (task: AssignedTask) =>
    takeAttempt({ url, processToken, taskId: task.id, attempt: task.attempt, signal: task.signal });
  return {
    async open(task) {
      const { token, windows } = await attempt(task);
      return { ...openGatewayModel({ url, token }), windows };
    },
    async variablesFor(task) {
      const { token } = await attempt(task);
      return { OPENAI_BASE_URL: url, OPENAI_API_KEY: token };
    },
    close,
  };
}
