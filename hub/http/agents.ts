import { z } from 'zod';
import type { Agent } from '../agents.ts';
import { toAgentRow } from '../inspect.ts';
import { sendJson } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { flag } from './query.ts';

/** Who is connected, as `who` has it, and what waits for each. */
export const agentsEndpoint = endpoint({
  method: 'GET',
  path: '/v1/agents',
  scope: 'watch',
  help: 'who is connected, and what waits for each; ?all=1 also names that are known and away',
  query: z.strictObject({ all: flag.default(false) }),
  answer: ({ query, view, response }) => {
    const agents = [...view.agents.all()].filter(({ connection }) => query.all || connection !== undefined);
    return sendJson(response, { agents: agents.map(row) });
  },
});

function row(agent: Agent) {
  const { mailbox, connection } = agent;
  return {
    ...toAgentRow(agent),
    online: connection !== undefined,
    waiting: mailbox?.depth ?? 0,
    waiting_bytes: mailbox?.bytes ?? 0,
    inflight: mailbox?.inflight ?? 0,
    out_buffer_bytes: connection?.queued ?? 0,
  };
}
