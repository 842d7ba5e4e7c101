import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { repositoryRoutes, userAnswer } from './api-repository.ts';
import type { Fault, Faults } from './faults.ts';
import {
  type Answer,
  type Call,
  matchPath,
  notFound,
  Refusal,
  type Route,
  readBody,
  refusalAnswer,
  sendAnswer,
} from './http.ts';
import { demandScope } from './platform.ts';
import { repositoryShape } from './shapes.ts';
import type { FakeRepository, Token, World } from './world.ts';

/** Answers requests to the API; `path` starts with a slash and knows nothing of where the API is mounted. */
export function createApi(
  world: World,
  at: { readonly routes: readonly Route[]; readonly faults: Faults; readonly webUrl: () => string },
): (request: IncomingMessage, response: ServerResponse, path: string, query: URLSearchParams) => Promise<void> {
  const routes = [...at.routes, ...repositoryRoutes];

  async function answer(request: IncomingMessage, body: Buffer, path: string, query: URLSearchParams): Promise<Answer> {
    const accept = request.headers.accept ?? '';
    if (!/application\/(vnd\.cnb\.(api|raw)\+)?json/.test(accept)) throw new Refusal(406, 406, 'not acceptable');
    const token = letIn(world, request);
    const method = request.method ?? 'GET';
    const context = { world, query, token, person: token.person, web: (part: string) => at.webUrl() + part };
    const user = /^\/users?(?:\/([^/]+))?$/.exec(path);
    if (user && method === 'GET') {
      demandScope(token.scopes, 'account-profile:r');
      return { status: 200, body: userAnswer(context, user[1]) };
    }
    const [slug = '', rest] = splitPath(path);
    const repository = world.repositories.get(decodeURIComponent(slug).toLowerCase());
    if (!repository) throw notFound('repository');
    const found = rest === undefined ? undefined : findRoute(routes, method, rest);
    if (rest !== undefined && !found) throw notFound('page');
    if (token.repository !== undefined && token.repository !== repository.slug) {
      throw new Refusal(403, 10_024, 'the resource of the token does not fit');
    }
    if (!found) return plainRepository(repository, token, at.webUrl());
    if (found.route.scope !== undefined) demandScope(token.scopes, found.route.scope);
    const call: Call = {
      ...context,
      repository,
      parameters: found.parameters,
      read(schema) {
        const parsed = schema.safeParse(parse(body));
        if (parsed.success) return parsed.data;
        throw new Refusal(400, 3, `invalid parameter: ${parsed.error.issues[0]?.message}`);
      },
    };
    return found.route.handle(call);
  }

  return async (request, response, path, query) => {
    const body = await readBody(request);
    const fault = at.faults.take(request.method ?? 'GET', path);
    if (fault && (await spoil(fault, response, query))) return;
    const result = await answer(request, body, path, query).catch((error: unknown): Answer => {
      if (error instanceof Refusal) return refusalAnswer(error);
      return refusalAnswer(new Refusal(500, 1, String(error)));
    });
    if (fault?.kind === 'drop_after') response.destroy();
    else if (fault?.kind === 'error_after') sendAnswer(response, refusalAnswer(new Refusal(500, 1, 'internal error')));
    else sendAnswer(response, result);
  };
}

/** Lets a fault happen before the request is worked on; true: it is answered. */
async function spoil(fault: Fault, response: ServerResponse, query: URLSearchParams): Promise<boolean> {
  switch (fault.kind) {
    case 'rate_limit':
      sendAnswer(response, {
        ...refusalAnswer(new Refusal(429, 429, 'too many requests')),
        headers: { 'retry-after': String(fault.retryAfter ?? 1) },
      });
      return true;
    case 'error':
      sendAnswer(response, refusalAnswer(new Refusal(500, 1, 'internal error')));
      return true;
    case 'forbidden':
      sendAnswer(response, refusalAnswer(new Refusal(403, 10_023, 'Missing required scopes')));
      return true;
    case 'html':
      sendAnswer(response, {
        status: 502,
        bytes: Buffer.from('<html><h1>502 Bad Gateway</h1></html>'),
        headers: { 'content-type': 'text/html' },
      });
      return true;
    case 'drop':
      response.destroy();
      return true;
    case 'slow':
      await delay(fault.delayMs ?? 1000);
      return false;
    case 'same_page':
      query.delete('page');
      return false;
    case 'drop_after':
    case 'error_after':
      return false;
  }
}

function letIn(world: World, request: IncomingMessage): Token {
  const value = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const token = value === undefined ? undefined : world.tokens.get(value);
  if (!token || token.expired) throw new Refusal(401, 16, 'unauthenticated');
  return token;
}

function findRoute(routes: readonly Route[], method: string, path: string) {
  for (const route of routes) {
    const parameters = route.method === method ? matchPath(route.path, path) : undefined;
    if (parameters) return { route, parameters };
  }
  return undefined;
}

/** `/a/b/-/issues/3` → `['a/b', 'issues/3']`. */
function splitPath(path: string): [string, string?] {
  const cut = path.indexOf('/-/');
  return cut < 0 ? [path.slice(1)] : [path.slice(1, cut), path.slice(cut + 3)];
}

function plainRepository(repository: FakeRepository, token: Token, web: string): Answer {
  demandScope(token.scopes, 'repo-basic-info:r');
  return { status: 200, body: repositoryShape(repository, `${web}/${repository.slug}`) };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refusal(400, 3, 'the body is no JSON');
  }
}
