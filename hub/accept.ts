import type { IncomingMessage } from 'node:http';
import { AgentName, Role } from '../protocol/index.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Grant, openGrant, type Tokens } from './tokens.ts';

/** What a connection asked for in its address, once it may be upgraded. */
export interface Admission {
  readonly name: string;
  readonly roles: readonly string[];
  /** The address says `v=1`: hello must follow. */
  readonly levelOne: boolean;
  readonly grant: Grant;
}

/** What every request to the hub's port is checked by. */
export interface DoorPolicy {
  /** Whole Host values in lower case, with port. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly auth: 'none' | 'required';
  readonly tokens: Tokens;
  /** Whether `?token=` is taken. */
  readonly tokenInQuery: boolean;
}

/** What the checks before the upgrade go by. */
export interface AcceptPolicy extends DoorPolicy {
  readonly connections: number;
  readonly maxConnections: number;
  /** Whether nobody is let in any more. */
  readonly ending: boolean;
  /** Counts an upgrade under this name; how many ms it comes too early, 0 = in time. */
  readonly pace: (name: string) => number;
}

/** The Host values that reach a hub at `host:port`, and no others: a page that rebinds its DNS name to loopback has another one. */
export function allowedHosts(host: string, port: number, names: readonly string[]): Set<string> {
  const own = ['127.0.0.1', 'localhost', '[::1]'];
  if (host !== '0.0.0.0' && host !== '::') own.push(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
  const configured = names.flatMap((name) => (/:\d+$/.test(name) ? [name] : [name, `${name}:${port}`]));
  return new Set([...own.map((name) => `${name}:${port}`), ...configured].map((name) => name.toLowerCase()));
}

/** The address a request is for; undefined when it is none. */
export function addressOf(request: IncomingMessage): URL | undefined {
  const { url = '/' } = request;
  return URL.canParse(url, 'http://hub') ? new URL(url, 'http://hub') : undefined;
}

/** Checks who a request is meant for (Host) and from where it comes (Origin, and what browsers say of it). */
export function checkSource(request: IncomingMessage, policy: DoorPolicy): Refusal | undefined {
  const hosts = request.headersDistinct.host ?? [];
  if (hosts.length !== 1 || !policy.hosts.has((hosts[0] as string).toLowerCase())) {
    return refuse(403, 'forbidden', 'the Host header names another host; connect to the address the hub printed');
  }
  const { origin, 'sec-fetch-site': site } = request.headers;
  const foreign = origin === undefined ? site === 'cross-site' || site === 'same-site' : !policy.origins.has(origin);
  return foreign ? refuse(403, 'forbidden', 'pages of this origin may not connect') : undefined;
}

/** What the request's token allows; a refusal where one is needed and none that is good came. */
export function checkToken(request: IncomingMessage, address: URL, policy: DoorPolicy): Grant | Refusal {
  if (policy.auth === 'none') return openGrant;
  const token = tokenOf(request) ?? (policy.tokenInQuery ? address.searchParams.get('token') : null);
  const grant = token === null ? undefined : policy.tokens.find(token);
  if (grant !== undefined) return grant;
  const why = token === null ? 'a token is needed: Authorization: Bearer TOKEN' : 'this token is none of this hub';
  return refuse(401, 'unauthorized', why);
}

/** Checks an upgrade request in the order Host, Origin, token, name and room. */
export function checkUpgrade(request: IncomingMessage, policy: AcceptPolicy): Admission | Refusal {
  const stranger = checkSource(request, policy);
  if (stranger !== undefined) return stranger;
  const address = addressOf(request);
  if (address === undefined) return refuse(400, 'bad_frame', 'this is no address');
  const grant = checkToken(request, address, policy);
  if ('status' in grant) return grant;
  if (address.pathname !== '/' && address.pathname !== '/ws') {
    return refuse(404, 'not_found', 'agents connect at / or /ws');
  }
  return checkNames(address.searchParams, grant, policy);
}

function checkNames(query: URLSearchParams, grant: Grant, policy: AcceptPolicy): Admission | Refusal {
  const name = AgentName.safeParse(query.get('agent') ?? '');
  if (!name.success) return refuse(400, 'bad_frame', `?agent=NAME is needed: ${name.error.issues[0]?.message}`);
  if (grant.agent !== undefined && grant.agent !== name.data) {
    return refuse(401, 'unauthorized', 'this token belongs to another name');
  }
  const roles = query.getAll('role');
  const wrong = roles.find((role) => !Role.safeParse(role).success);
  if (wrong !== undefined || roles.length > 32) return refuse(400, 'bad_frame', '?role=ROLE: 1-32 of a-z 0-9 _ -');
  const version = query.get('v');
  if (version !== null && version !== '1') return refuse(400, 'unsupported_version', 'this hub speaks v=1');
  if (policy.ending) return refuse(503, 'shutting_down', 'the hub ends; come back', { retryAfter: 1 });
  if (policy.connections >= policy.maxConnections) {
    return refuse(503, 'rate_limited', 'the hub is full; come back', { retryAfter: 5 });
  }
  const early = policy.pace(name.data);
  if (early > 0) {
    const retryAfter = Math.ceil(early / 1000);
    return refuse(429, 'rate_limited', 'too many connections a second under names like this one', { retryAfter });
  }
  return { name: name.data, roles, levelOne: version === '1', grant };
}

function tokenOf({ headers }: IncomingMessage): string | null {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  return bearer ?? protocols.find((part) => part.startsWith('hub.token.'))?.slice('hub.token.'.length) ?? null;
}
