import { nameRule, parseTarget } from '../protocol/index.ts';
import type { Agent, Agents } from './agents.ts';
import type { HubLimits } from './options.ts';
import type { Post } from './post.ts';
import { isFull } from './room.ts';
import { type Refused, refused, type Said } from './said.ts';

/** What plain messages are routed with. */
export interface RouteParts {
  readonly agents: Agents;
  readonly post: Post;
  readonly limits: HubLimits;
}

/** Sends a message to one agent, to one of a role, to all of a role, or to everybody. */
export function routeMessage(parts: RouteParts, said: Said<'route'>): Refused | undefined {
  const agent = parts.agents.get(said.frame.to);
  if (agent !== undefined) return toAgent(parts, said, agent);
  const target = parseTarget(said.frame.to);
  switch (target?.kind) {
    case 'agent':
      return refused('no_such_agent', `nobody here is called ${target.name}`);
    case 'role':
      if (target.all) return toAll(parts, said, (agent) => agent.roles.includes(target.role));
      return toOneOf(parts, said, target.role);
    case 'everyone':
      return toAll(parts, said, () => true);
    case 'hub':
    case undefined:
      return refused('no_such_agent', `to: an agent, role:R, role:R/* or *; ${nameRule}`);
    default:
      target satisfies never;
      return undefined;
  }
}

function toAgent({ post, limits }: RouteParts, said: Said<'route'>, agent: Agent): Refused | undefined {
  const { mailbox, connection, name } = agent;
  if (connection === undefined && mailbox === undefined) return refused('offline', `${name} is away`);
  if (isFull(agent, limits)) return refused('mailbox_full', fullWords(name));
  post.relay(said.agent.name, said.decoded, { box: name });
  return undefined;
}

/** Says that no more is taken for a name. */
export function fullWords(name: string): string {
  return `too much waits for ${name} already; send it again when some of it was read`;
}

function toOneOf(parts: RouteParts, said: Said<'route'>, role: string): Refused | undefined {
  const able = parts.agents.connected().filter((agent) => agent !== said.agent && agent.roles.includes(role));
  const [idlest] = able.sort((a, b) => a.tasks.size - b.tasks.size);
  if (idlest === undefined) return refused('no_worker', `no agent of role ${role} is connected`);
  return toAgent(parts, said, idlest);
}

/** To everybody who is there now, at most once: what is broadcast waits for nobody. */
function toAll(
  { agents, post, limits }: RouteParts,
  said: Said<'route'>,
  wanted: (agent: Agent) => boolean,
): undefined {
  post.relay(said.agent.name, said.decoded, {}, (message) => {
    const keys = `,"lsn":${message.lsn},"ts":${message.ts}}`;
    for (const agent of agents.connected()) {
      if (agent === said.agent || !wanted(agent) || agent.connection === undefined) continue;
      if (agent.connection.queued <= limits.softBuffer) agent.connection.sendLogged(message, keys);
    }
  });
}
