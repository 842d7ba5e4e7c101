import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../base/log.ts';
import { addressOf, checkSource, checkToken, type DoorPolicy } from '../accept.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { may } from '../tokens.ts';
import type { HubState } from '../view.ts';
import { agentsEndpoint } from './agents.ts';
import { sendRefusal, setCommonHeaders } from './answer.ts';
import { deadEndpoint, dropEndpoint, dropOneEndpoint } from './dead.ts';
import type { Ask, Endpoint, OpenEndpoint } from './endpoint.ts';
import { healthz, readyz } from './health.ts';
import { indexPage } from './index-page.ts';
import { logEndpoint } from './log.ts';
import { metricsEndpoint } from './metrics.ts';
import { readQuery } from './query.ts';
import { taskEndpoint, tasksEndpoint } from './tasks.ts';
import { timelineEndpoint } from './timeline.ts';

/** What answers by HTTP on the hub's port go by. */
export interface HttpParts {
  readonly policy: () => DoorPolicy;
  readonly state: () => HubState;
  readonly log: Log;
}

/** Answers what is no WebSocket: Host and Origin are checked first, then path, method and token, as for an upgrade. */
export function serveHttp(parts: HttpParts): (request: IncomingMessage, response: ServerResponse) => void {
  const endpoints: readonly Endpoint[] = [
    ...[agentsEndpoint, tasksEndpoint, taskEndpoint, timelineEndpoint, logEndpoint()],
    ...[deadEndpoint, dropEndpoint, dropOneEndpoint, metricsEndpoint],
  ];
  const open: OpenEndpoint[] = [healthz, readyz];
  open.unshift(indexPage(() => [...open, ...endpoints]));
  const paths = [...new Set([...open, ...endpoints].map(({ path }) => path.replace(':id', 'ID')))].join(' ');
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> => {
    const stranger = checkSource(request, parts.policy());
    if (stranger !== undefined) return stranger;
    const address = addressOf(request);
    if (address === undefined) return refuse(400, 'bad_query', 'this is no address');
    if (hasBody(request)) return refuse(413, 'too_large', 'nothing here takes a body');
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const openOne = open.find(({ path }) => path === address.pathname);
    if (openOne !== undefined) {
      if (method !== 'GET') return wrongMethod(['GET', 'HEAD']);
      openOne.answer(response, parts.state());
      return undefined;
    }
    const here = endpoints.filter(({ path }) => idIn(path, address.pathname) !== undefined);
    if (here.length === 0) {
      if (address.pathname === '/ws') return refuse(426, 'upgrade_required', 'agents connect here by WebSocket');
      return refuse(404, 'not_found', `nothing is here; there are ${paths}`);
    }
    const asked = here.find((one) => one.method === method);
    if (asked === undefined)
      return wrongMethod(here.flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : one.method)));
    const grant = checkToken(request, address, parts.policy());
    if ('status' in grant) return grant;
    if (!may(grant, asked.scope)) return refuse(403, 'forbidden', `this token is not good for that: ${asked.scope}`);
    const state = parts.state();
    if (state.name !== 'ready')
      return refuse(503, 'not_ready', `the hub is ${state.name}: ${state.reason}`, { retryAfter: 1 });
    const query = readQuery(asked.query, address.searchParams);
    if (isRefusal(query)) return query;
    const id = idIn(asked.path, address.pathname) ?? '';
    const headOnly = request.method === 'HEAD';
    const ask: Ask<never> = { query, id, view: state.view, response, headOnly, signal: goneSignal(response) };
    return asked.answer(ask);
  };
  return (request, response) => {
    setCommonHeaders(response);
    handle(request, response).then(
      (refusal) => {
        if (refusal !== undefined) sendRefusal(response, refusal);
      },
      (error: unknown) => {
        parts.log.error({ err: error, path: request.url?.split('?')[0] }, 'a request could not be answered');
        // Half an answer must not look like a whole one.
        if (response.headersSent) response.destroy();
        else sendRefusal(response, refuse(500, 'internal', 'the hub failed at this request'));
      },
    );
  };
}

/** What stands for `:id`; empty when the path has none, undefined when it is another path. */
function idIn(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split(':id');
  if (after === undefined) return path === pattern ? '' : undefined;
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const id = path.slice(before.length, path.length - after.length);
  return id === '' || id.includes('/') ? undefined : decoded(id);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function wrongMethod(allowed: readonly string[]): Refusal {
  return refuse(405, 'method_not_allowed', `here goes ${allowed.join(', ')}`, { allow: allowed.join(', ') });
}

function isRefusal(value: object): value is Refusal {
  return 'status' in value;
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
