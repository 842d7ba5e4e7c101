import { z } from 'zod';
import type { Agent } from '../agents.ts';
import { toAgentRow } from '../inspect.ts';
import { pauses } from '../pauses.ts';
import { sendText } from './answer.ts';
import { endpoint } from './endpoint.ts';
import { flag, whole } from './query.ts';

/** About the bytes of one answer. */
const ANSWER_BYTES = 1024 * 1024;

/** Who is connected, as `who` has it, and what waits for each; in the order of their names, so that there are pages. */
export const agentsEndpoint = endpoint({
  method: 'GET',
  path: '/v1/agents',
  scope: 'watch',
  help: 'who is connected, and what waits for each; ?all=1 also names that are known and away; ?limit= (1000), ?after=NAME',
  query: z.strictObject({
    all: flag.default(false),
    limit: whole(1, 10_000).default(1000),
    after: z.string().max(64).default(''),
  }),
  answer: async ({ query: { all, limit, after }, view, response }) => {
    const agents = [...view.agents.all()]
      .filter(({ connection, name }) => (all || connection !== undefined) && name > after)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const pause = pauses();
    const rows: string[] = [];
    let room = ANSWER_BYTES;
    for (const agent of agents) {
      if (rows.length === limit || room <= 0) break;
      const text = JSON.stringify(row(agent));
      rows.push(text);
      room -= text.length;
      await pause();
    }
    const next = rows.length < agents.length ? agents[rows.length - 1]?.name : undefined;
    const end = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
    return sendText(response, `{"agents":[${rows.join(',')}]${end}}\n`, 'application/json');
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
