import type { IncomingMessage } from 'node:http';
import { AgentName, type ErrorCode, Role } from '../protocol/index.ts';
import { type Grant, openGrant, type Tokens } from './tokens.ts';

/** What a connection asked for in its address, once it may be upgraded. */
export interface Admission {
  readonly name: string;
  readonly roles: readonly string[];
  /** The address says `v=1`: hello must follow. */
  readonly levelOne: boolean;
  readonly grant: Grant;
}

/** Why a connection is refused before the upgrade. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 503;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What the checks before the upgrade go by. */
export interface AcceptPolicy {
  /** Whole Host values in lower case, with port. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly auth: 'none' | 'required';
  readonly tokens: Tokens;
  readonly connections: number;
  readonly maxConnections: number;
}

/** The Host values that reach a hub at `host:port`, and no others: a page that rebinds its DNS name to loopback has another one. */
export function allowedHosts(host: string, port: number, names: readonly string[]): Set<string> {
  const own = ['127.0.0.1', 'localhost', '[::1]'];
  if (host !== '0.0.0.0' && host !== '::') own.push(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
  const configured = names.flatMap((name) => (/:\d+$/.test(name) ? [name] : [name, `${name}:${port}`]));
  return new Set([...own.map((name) => `${name}:${port}`), ...configured].map((name) => name.toLowerCase()));
}

/** Checks an upgrade request in the order Host, Origin, token, name and room. */
export function checkUpgrade(request: IncomingMessage, policy: AcceptPolicy): Admission | Refusal {
  const host = request.headers.host?.toLowerCase();
  if (host === undefined || !policy.hosts.has(host)) {
    return refuse(403, 'forbidden', 'the Host header names another host; connect to the address the hub printed');
  }
  const origin = request.headers.origin;
  if (origin !== undefined && !policy.origins.has(origin)) {
    return refuse(403, 'forbidden', 'pages of this origin may not connect');
  }
  const address = new URL(request.url ?? '/', 'ws://hub');
  const grant = policy.auth === 'none' ? openGrant : grantOf(request, policy.tokens);
  if (grant === undefined) return refuse(401, 'unauthorized', 'a token is needed: Authorization: Bearer TOKEN');
  if (address.pathname !== '/' && address.pathname !== '/ws') {
    return refuse(404, 'bad_frame', 'the hub is at / and /ws');
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
  if (policy.connections >= policy.maxConnections) return refuse(503, 'rate_limited', 'the hub is full; come back');
  return { name: name.data, roles, levelOne: version === '1', grant };
}

function grantOf(request: IncomingMessage, tokens: Tokens): Grant | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  const token = bearer ?? protocols.find((part) => part.startsWith('hub.token.'))?.slice('hub.token.'.length);
  return token === undefined ? undefined : tokens.find(token);
}

function refuse(status: Refusal['status'], code: ErrorCode, message: string): Refusal {
  return { status, code, message };
}
