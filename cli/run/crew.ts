import { fileURLToPath } from 'node:url';
import type { Log } from '../../base/log.ts';
import type { Environment } from '../../config/index.ts';
import type { SpawnAgent, SpawnedAgent } from '../../coordinator/crew.ts';
import type { Gateway } from '../../llm/index.ts';
import { agentSpawner } from '../spawn-agent.ts';
import { inProcessSpawner } from './in-process-agents.ts';
import type { RunHub } from './run-hub.ts';

/** What starts a run's agents, and ends those that are left. */
export interface CrewPlace {
  readonly spawn: SpawnAgent;
  /** Ends what still runs, at once. */
  end(): Promise<void>;
}

interface CrewOptions {
  readonly hub: RunHub;
  readonly gateway: Gateway;
  readonly folder: string;
  readonly env: Environment;
  readonly log: Log;
  /** Agents live in this process, for debugging. */
  readonly inProcess: boolean;
  say(line: string): void;
}

/** Agents get a token of their own for the hub and one for the gateway. */
export function openCrew({ hub, gateway, folder, env, log, inProcess, say }: CrewOptions): CrewPlace {
  const alive = new Set<SpawnedAgent>();
  const start: SpawnAgent = inProcess
    ? inProcessSpawner({ hub, gateway, env, log, say })
    : agentSpawner({
        hubUrl: hub.url,
        gatewayUrl: gateway.url,
        stateDir: folder,
        env,
        secretsFor({ name, role }) {
          const token = hub.tokenFor(name);
          return {
            process_token: gateway.grantProcess({ agent: name, role }),
            ...(token !== undefined && { hub_token: token }),
          };
        },
        say,
        command: [process.execPath, ...process.execArgv, fileURLToPath(new URL('../main.js', import.meta.url))],
      });
  return {
    async spawn(order) {
      const agent = await start(order);
      alive.add(agent);
      void agent.exited.then(() => alive.delete(agent));
      return agent;
    },
    async end() {
      const left = [...alive];
      for (const agent of left) agent.kill('SIGKILL');
      await Promise.all(left.map((agent) => agent.exited));
    },
  };
}
