import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { FakeRepository, Person, Token, World } from './world.ts';

/** What a route answers with; `body` goes out as JSON, `bytes` as they are. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly bytes?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One call of the API, already let in. */
export interface Call {
  readonly world: World;
  readonly repository: FakeRepository;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly token: Token;
  readonly person: Person;
  /** Checks the request's JSON; throws a 400. */
  read<T>(schema: z.ZodType<T>): T;
  /** Web address of a path. */
  web(path: string): string;
}

/** A refusal in the platform's own words. */
export class Refusal extends Error {
  readonly status: number;
  readonly errcode: number;

  constructor(status: number, errcode: number, message: string) {
    super(message);
    this.status = status;
    this.errcode = errcode;
  }
}

export const notFound = (what: string): Refusal => new Refusal(404, 5, `${what} not found`);

/** A way in: `:name` takes one segment, `*name` the rest with its slashes. `scope` undefined: any valid token. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly scope?: string;
  readonly handle: (call: Call) => Answer | Promise<Answer>;
}

/** The parameters of `path` when it has the form of `pattern`. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/').map(decodeURIComponent);
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith('*')) {
      parameters[part.slice(1)] = given.slice(index).join('/');
      return parameters;
    }
    const value = given[index];
    if (value === undefined || (!part.startsWith(':') && part !== value)) return undefined;
    if (part.startsWith(':')) parameters[part.slice(1)] = value;
  }
  return wanted.length === given.length ? parameters : undefined;
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function sendAnswer(response: ServerResponse, answer: Answer): void {
  const json = answer.body === undefined ? undefined : Buffer.from(JSON.stringify(answer.body));
  const bytes = answer.bytes ?? json ?? Buffer.alloc(0);
  response.writeHead(answer.status, {
    'content-type': 'application/vnd.cnb.api+json',
    traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
    ...answer.headers,
    'content-length': String(bytes.length),
  });
  response.end(bytes);
}

export function refusalAnswer(refusal: Refusal): Answer {
  return { status: refusal.status, body: { errcode: refusal.errcode, errmsg: refusal.message, errparam: {} } };
}

/** One page of a list, as the query asks for it. */
export function page<T>(items: readonly T[], query: URLSearchParams, defaultSize = 30): readonly T[] {
  const size = Math.min(100, positive(query.get('page_size'), defaultSize));
  const start = (positive(query.get('page'), 1) - 1) * size;
  return items.slice(start, start + size);
}

function positive(text: string | null, fallback: number): number {
  const value = Number(text);
  return text !== null && Number.isInteger(value) && value > 0 ? value : fallback;
}
