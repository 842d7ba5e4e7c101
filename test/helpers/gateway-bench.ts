import { onTestFinished } from 'vitest';
import { silentLog } from '../../base/log.ts';
import type { Model, ModelRequest } from '../../core/model.ts';
import { type GatewayOptions, openGatewayModel, startGateway, takeAttempt, type UsageEvent } from '../../llm/index.ts';
import type { FaultSwitch } from '../../testing/fault-plan.ts';
import { startModelServer } from '../../testing/model-server.ts';
import type { ScriptSource } from '../../testing/script.ts';

/** Back-off of some ms, and silences that a busy machine does not take for one. */
const quick = {
  retry: { attempts: 3, baseMs: 5, capMs: 20 },
  timeouts: { firstByteMs: 10_000, idleMs: 10_000 },
} satisfies Partial<GatewayOptions>;

/** A gateway in front of a scripted model server, both over real HTTP; closed when the test ends. */
export async function gatewayBench(
  script: ScriptSource,
  options: Partial<GatewayOptions> & { faults?: readonly FaultSwitch[] } = {},
) {
  const { faults = [], ...rest } = options;
  const server = await startModelServer({ script, faults });
  const records: { event: UsageEvent; taskId: string }[] = [];
  const gateway = await startGateway({
    ...quick,
    upstream: { baseURL: server.url, apiKey: 'key-of-the-upstream' },
    models: { default: 'big', flash: 'small' },
    log: silentLog(),
    record: async (event, taskId) => {
      records.push({ event, taskId });
    },
    ...rest,
  });
  onTestFinished(async () => {
    await gateway.close();
    await server.close();
  });
  const signal = new AbortController().signal;
  /** The model of one attempt, as an agent process opens it. */
  async function agent(name: string, taskId: string, attempt = 1): Promise<{ model: Model; token: string }> {
    const processToken = gateway.grantProcess({ agent: name, role: name.replace(/-\d+$/, '') });
    const { token } = await takeAttempt({ url: gateway.url, processToken, taskId, attempt, signal });
    return { model: openGatewayModel({ url: gateway.url, token, silenceMs: 15_000 }), token };
  }
  return { server, gateway, records, agent, signal };
}

/** A request of a few words. */
export function asking(turn = 0, more: Partial<ModelRequest> = {}): ModelRequest {
  return { turns: [{ role: 'user', content: 'please' }], tools: [], choice: 'default', turn, ...more };
}
