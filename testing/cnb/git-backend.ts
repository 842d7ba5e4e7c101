import type { IncomingMessage, ServerResponse } from 'node:http';
import { execa } from 'execa';

/** Answers one request of git's smart HTTP protocol by running `git http-backend` as a CGI program. */
export async function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  at: { readonly folder: string; readonly path: string; readonly query: string; readonly user: string | undefined },
): Promise<void> {
  const header = (name: string): string => String(request.headers[name] ?? '');
  const child = execa('git', ['http-backend'], {
    env: {
      GIT_PROJECT_ROOT: at.folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROTOCOL: header('git-protocol'),
      PATH_INFO: at.path,
      QUERY_STRING: at.query,
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      REMOTE_ADDR: '127.0.0.1',
      ...(at.user !== undefined && { REMOTE_USER: at.user }),
      ...(request.headers['content-length'] !== undefined && { CONTENT_LENGTH: header('content-length') }),
    },
    encoding: 'buffer',
    buffer: false,
    reject: false,
    stdin: 'pipe',
    stderr: 'ignore',
  });
  request.pipe(child.stdin);
  // git may end before it has read everything; its exit says why.
  child.stdin.on('error', () => undefined);
  response.on('close', () => child.kill());
  let head = Buffer.alloc(0);
  let body = false;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    if (body) {
      response.write(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) continue;
    writeHead(response, head.subarray(0, end).toString('latin1'));
    response.write(head.subarray(end + 4));
    body = true;
  }
  await child;
  if (!body) response.writeHead(500);
  response.end();
}

function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [name = '', value = ''] = [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()];
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
