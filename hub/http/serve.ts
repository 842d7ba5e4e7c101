import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../base/log.ts';
import { addressOf, checkSource, checkToken, type DoorPolicy } from '../accept.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { may } from '../tokens.ts';
import type { HubState, HubView } from '../view.ts';
import { agentsEndpoint } from './agents.ts';
import { sendRefusal, setCommonHeaders } from './answer.ts';
import { deadEndpoint, dropEndpoint, dropOneEndpoint } from './dead.ts';
import type { Endpoint, OpenEndpoint } from './endpoint.ts';
import { healthz, readyz } from './health.ts';
import { indexPage } from './index-page.ts';
import { logEndpoint } from './log.ts';
import { match } from './match.ts';
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

/** Answers what is no WebSocket: Host and Origin are checked first, then path and method, then the token, as for an upgrade. */
export function serveHttp(parts: HttpParts): (request: IncomingMessage, response: ServerResponse) => void {
  const all: (Endpoint | OpenEndpoint)[] = [
    ...[healthz, readyz, metricsEndpoint, agentsEndpoint, tasksEndpoint, taskEndpoint, timelineEndpoint],
    ...[logEndpoint(), deadEndpoint, dropEndpoint, dropOneEndpoint],
  ];
  all.unshift(indexPage(() => all));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<Refusal | undefined> => {
    const stranger = checkSource(request, parts.policy());
    if (stranger !== undefined) return stranger;
    const address = addressOf(request);
    if (address === undefined) return refuse(400, 'bad_query', 'this is no address');
    if (hasBody(request)) return refuse(413, 'too_large', 'nothing here takes a body');
    const found = match(all, request.method ?? '', address.pathname);
    if ('status' in found) return found;
    const { place, id } = found;
    if (!('scope' in place)) return place.answer(response, parts.state());
    const allowed = admit(request, address, place, parts);
    if ('status' in allowed) return allowed;
    const query = readQuery(place.query, address.searchParams);
    if (isRefusal(query)) return query;
    const headOnly = request.method === 'HEAD';
    return place.answer({ query, id, view: allowed.view, response, headOnly, signal: goneSignal(response) });
  };
  return (request, response) => {
    setCommonHeaders(response);
    answer(request, response).then(
      (refusal) => {
        if (refusal !== undefined) sendRefusal(response, refusal);
      },
      (error: unknown) => {
        // A hub that ends takes its log from who is reading it.
        if (parts.state().name === 'ready') {
          parts.log.error({ err: error, path: request.url?.split('?')[0] }, 'a request could not be answered');
        }
        // Half an answer must not look like a whole one.
        if (response.headersSent) response.destroy();
        else sendRefusal(response, refuse(500, 'internal', 'the hub failed at this request'));
      },
    );
  };
}

/** What may be seen, for who may ask this of a hub that is ready. */
function admit(
  request: IncomingMessage,
  address: URL,
  { scope }: Endpoint,
  { policy, state }: HttpParts,
): { readonly view: HubView } | Refusal {
  const grant = checkToken(request, address, policy());
  if ('status' in grant) return grant;
  if (!may(grant, scope)) return refuse(403, 'forbidden', `this token is not good for that: ${scope}`);
  const now = state();
  return now.name === 'ready'
    ? { view: now.view }
    : refuse(503, 'not_ready', `the hub is ${now.name}: ${now.reason}`, { retryAfter: 1 });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isRefusal(value: object): value is Refusal {
  return 'status' in value;
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
