import { roleNamed } from '../../agents/roles.ts';
import { runAgent } from '../../agents/runtime.ts';
import { AppError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Environment } from '../../config/index.ts';
import type { SpawnAgent } from '../../coordinator/crew.ts';
import { connectHub } from '../../hub-client/index.ts';
import type { Gateway } from '../../llm/index.ts';
import type { RunHub } from './run-hub.ts';

interface InProcessOptions {
  readonly hub: RunHub;
  readonly gateway: Gateway;
  readonly env: Environment;
  readonly log: Log;
  say(line: string): void;
}

/** Agents inside this process, over the same hub, for a debugger. Such an agent has no start time: nobody ends it by its pid. */
export function inProcessSpawner({ hub, gateway, env, log, say }: InProcessOptions): SpawnAgent {
  return async ({ name, role, exec }) => {
    if (exec !== undefined) throw new AppError('usage', `${name} is another program; it cannot run --in-process`);
    const definition = roleNamed(role);
    const client = await connectHub({ url: hub.url, name, token: hub.tokenFor(name), roles: [role], title: role, log });
    const ending = new AbortController();
    const exited = runAgent({
      client,
      role: definition,
      openModel: async (task) => ({
        ...gateway.modelFor({ role, agent: name, taskId: task.id, attempt: task.attempt, logsThinking: true }),
        windows: gateway.windows(),
      }),
      cwd: process.cwd(),
      env,
      log,
      print: (line) => say(`${name}: ${line}`),
      signal: ending.signal,
    })
      .finally(() => client.close())
      .then(
        () => ({ exit: 0, signal: null }),
        (err: unknown) => {
          log.error({ err, agentId: name }, 'an agent of this process ended by an error');
          return { exit: 1, signal: null };
        },
      );
    return { pid: process.pid, startTime: '', exited, kill: () => ending.abort() };
  };
}
