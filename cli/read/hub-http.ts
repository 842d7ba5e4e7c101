import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { z } from 'zod';
import { AppError, type AppErrorCode, messageOf } from '../../base/errors.ts';
import { noHubWords, refusedWords } from '../../hub-client/words.ts';
import { AgentRow } from '../../protocol/index.ts';
import { hubAddress } from '../hub-address.ts';

const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

const codes: Readonly<Record<number, AppErrorCode>> = {
  401: 'refused',
  403: 'refused',
  404: 'not_found',
  400: 'usage',
};

/** How long a hub may take to begin its answer, ms. */
const PATIENCE_MS = 30_000;

/** What can be asked of a hub by HTTP, on the port where it takes WebSockets. */
export interface HubHttp {
  /** Asks; resolves once the answer begins. Rejects when nobody answers, and with what the hub says when it refuses. */
  ask(path: string, method?: 'GET' | 'HEAD' | 'DELETE'): Promise<IncomingMessage>;
  /** Asks for an answer in JSON, of this shape. */
  json<T>(shape: z.ZodType<T, unknown>, path: string, method?: 'GET' | 'DELETE'): Promise<T>;
}

/** Throws `AppError('usage')` when `url` is no address of a hub. */
export function hubHttp(url: string, token?: string): HubHttp {
  const base = new URL(hubAddress(url).replace(/^ws/, 'http'));
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const ask: HubHttp['ask'] = async (path, method = 'GET') => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = base.protocol === 'https:' ? requestHttps : requestHttp;
      const sent = request(new URL(path, base), { method, headers, agent: false }, resolve);
      const timer = setTimeout(() => sent.destroy(new Error(`no answer for ${PATIENCE_MS} ms`)), PATIENCE_MS);
      sent.on('response', () => clearTimeout(timer));
      sent.on('error', (error) => {
        clearTimeout(timer);
        reject(away(base, error));
      });
      sent.end();
    });
    const { statusCode: status = 0 } = response;
    if (status < 400) return response;
    // an answer to HEAD holds no words
    if (method === 'HEAD') return ask(path);
    throw refusal(base, status, await textOf(response).catch(() => ''), token !== undefined);
  };
  return {
    ask,
    async json(shape, path, method) {
      const response = await ask(path, method);
      const text = await textOf(response).catch((error: unknown) => {
        throw away(base, error);
      });
      const parsed = shape.safeParse(parse(text));
      if (parsed.success) return parsed.data;
      throw new AppError(
        'refused',
        `what listens at ${base.host} answers ${path} in a way that no hub of this version does`,
      );
    },
  };
}

const Agents = z.object({ agents: z.array(AgentRow), next: z.string().optional() });

/** Who is connected to a hub. */
export async function connectedAgents(hub: HubHttp): Promise<AgentRow[]> {
  const found: AgentRow[] = [];
  for (let path: string | undefined = '/v1/agents'; path !== undefined; ) {
    const { agents, next }: z.infer<typeof Agents> = await hub.json(Agents, path);
    found.push(...agents);
    path = next === undefined ? undefined : `/v1/agents?after=${next}`;
  }
  return found;
}

const Ready = z.object({ replay: z.boolean().default(false) });

/** Whether a hub only shows the log of another one. */
export async function isReplay(hub: HubHttp): Promise<boolean> {
  return (await hub.json(Ready, '/readyz')).replay;
}

/** Nobody answers, or no longer. */
export function away(base: Pick<URL, 'host'>, cause: unknown): AppError {
  return new AppError('disconnected', noHubWords(base.host, messageOf(cause)), { cause });
}

function refusal(base: URL, status: number, body: string, hasToken: boolean): AppError {
  const said = Refusal.safeParse(parse(body)).data?.error.message ?? `HTTP ${status}`;
  return new AppError(codes[status] ?? 'refused', refusedWords(base.host, said, { status, hasToken }), {
    details: { status },
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
