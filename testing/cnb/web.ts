import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from './faults.ts';
import { serveGit } from './git-backend.ts';
import { Refusal, readBody, refusalAnswer, sendAnswer } from './http.ts';
import { threadPage } from './pages.ts';
import type { Build } from './pipeline.ts';
import { covers } from './scopes.ts';
import type { FakeRepository, Token, World } from './world.ts';

const gitPath = /^\/(?<slug>.+?)(?:\.git)?\/(?<rest>info\/refs|git-upload-pack|git-receive-pack|HEAD|objects\/.*)$/;

/** Answers what a browser or git asks the web address for: git, uploads, uploaded files, build pages. */
export function createWeb(
  world: World,
  at: { readonly folder: string; readonly faults: Faults; readonly builds: readonly Build[] },
): (request: IncomingMessage, response: ServerResponse, path: string, query: URLSearchParams) => Promise<void> {
  return async (request, response, path, query) => {
    const git = gitPath.exec(path)?.groups;
    if (git) return gitRequest(request, response, { slug: git.slug ?? '', rest: git.rest ?? '', query });
    const upload = /^\/-\/uploads\/([\w-]+)$/.exec(path);
    const asset = world.assets.get(upload?.[1] ?? /\/-\/files\/[^/]+\/([\w-]+)\//.exec(path)?.[1] ?? '');
    if (upload && asset && request.method === 'PUT') {
      asset.bytes = await readBody(request);
      return sendAnswer(response, { status: 200, body: {} });
    }
    if (!upload && asset?.bytes)
      return sendAnswer(response, { status: 200, bytes: asset.bytes, headers: { 'content-type': asset.type } });
    const build = at.builds.find(({ sn }) => path.endsWith(`/-/build/logs/${sn}`));
    if (build) {
      const text = `${build.sn} ${build.status} ${build.problem}\n\n${build.output}`;
      return sendAnswer(response, {
        status: 200,
        bytes: Buffer.from(text),
        headers: { 'content-type': 'text/plain; charset=utf-8' },
      });
    }
    const thread = threadPage(world, path);
    if (thread !== undefined) {
      return sendAnswer(response, {
        status: 200,
        bytes: Buffer.from(thread),
        headers: { 'content-type': 'text/html; charset=utf-8' },
      });
    }
    return sendAnswer(response, refusalAnswer(new Refusal(404, 5, 'page not found')));
  };

  async function gitRequest(
    request: IncomingMessage,
    response: ServerResponse,
    asked: { slug: string; rest: string; query: URLSearchParams },
  ): Promise<void> {
    const repository = world.repositories.get(asked.slug.toLowerCase());
    const writes = asked.rest === 'git-receive-pack' || asked.query.get('service') === 'git-receive-pack';
    const token = basicToken(world, request);
    const verdict = judge(repository, token, writes);
    if (verdict !== undefined || !repository)
      return refuseGit(request, response, verdict ?? { status: 404, text: 'repository not found' });
    const fault = at.faults.take(request.method ?? 'GET', `/${asked.slug}/${asked.rest}`);
    if (fault) {
      response.destroy();
      return;
    }
    const path = `/${repository.slug}.git/${asked.rest}`;
    await serveGit(request, response, {
      folder: at.folder,
      path,
      query: asked.query.toString(),
      user: token?.person.username,
    });
  }
}

function judge(
  repository: FakeRepository | undefined,
  token: Token | undefined,
  writes: boolean,
): { status: number; text: string } | undefined {
  if (!token && (writes || repository?.visibility !== 'Public'))
    return { status: 401, text: 'authentication required' };
  if (!repository) return { status: 404, text: 'repository not found' };
  if (!token) return undefined;
  if (token.repository !== undefined && token.repository !== repository.slug)
    return { status: 403, text: 'the token is for another repository' };
  const needed = writes ? 'repo-code:rw' : 'repo-code:r';
  return covers(token.scopes, needed) ? undefined : { status: 403, text: `403 ${needed}` };
}

function refuseGit(
  request: IncomingMessage,
  response: ServerResponse,
  verdict: { status: number; text: string },
): void {
  request.resume();
  response.writeHead(verdict.status, {
    'content-type': 'text/plain',
    ...(verdict.status === 401 && { 'www-authenticate': 'Basic realm="CNB"' }),
  });
  response.end(`${verdict.text}\n`);
}

/** The token is the password; the user is `cnb` for builds, and any name for people. */
function basicToken(world: World, request: IncomingMessage): Token | undefined {
  const encoded = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const token = world.tokens.get(pair.slice(pair.indexOf(':') + 1));
  if (!token || token.expired) return undefined;
  return token.repository !== undefined && !pair.startsWith('cnb:') ? undefined : token;
}
