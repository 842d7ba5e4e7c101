import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { testHub } from '../test/helpers/hub.ts';
import type { RunningHub } from './index.ts';

/** The HTTP status of an upgrade: 101 when it was let in. */
async function knock(hub: RunningHub, path: string, headers: Record<string, string> = {}, protocols: string[] = []) {
  const socket = new WebSocket(`${hub.url}${path}`, protocols, { headers });
  const answer = await Promise.race([
    once(socket, 'open').then(() => ({ status: 101, body: '', protocol: socket.protocol })),
    once(socket, 'unexpected-response').then(async (args) => {
      const response = args[1] as IncomingMessage;
      let body = '';
      for await (const chunk of response) body += chunk;
      return { status: response.statusCode, body, protocol: '' };
    }),
  ]);
  socket.on('error', () => undefined);
  socket.terminate();
  return answer;
}

test('R-HUB-4: only Host values that name this very address are let in', async () => {
  const hub = await testHub({ hostNames: ['hub.internal'] });
  const { port } = hub;
  const status = async (host: string) => (await knock(hub, '/?agent=a', { host })).status;
  expect(await status(`127.0.0.1:${port}`)).toBe(101);
  expect(await status(`localhost:${port}`)).toBe(101);
  expect(await status(`LOCALHOST:${port}`)).toBe(101);
  expect(await status(`[::1]:${port}`)).toBe(101);
  expect(await status('hub.internal')).toBe(101);
  expect(await status(`hub.internal:${port}`)).toBe(101);
  expect(await status(`127.0.0.1.evil.example:${port}`)).toBe(403);
  expect(await status('127.evil.example')).toBe(403);
  expect(await status(`evil.example:${port}`)).toBe(403);
  expect(await status('127.0.0.1')).toBe(403);
  expect(await status(`127.0.0.1:${port + 1}`)).toBe(403);
});

test('R-HUB-4: a browser page is let in only from a listed origin', async () => {
  const hub = await testHub({ origins: ['https://good.example'] });
  const status = async (origin: string) => (await knock(hub, '/?agent=a', { origin })).status;
  expect(await status('https://good.example')).toBe(101);
  expect(await status('http://evil.example')).toBe(403);
  expect(await status('https://good.example.evil.example')).toBe(403);
  expect(await status('null')).toBe(403);
  expect(await status(`http://127.0.0.1:${hub.port}`)).toBe(403);
});

test('R-HUB-4: a name is needed and has to be one', async () => {
  const hub = await testHub();
  expect(await knock(hub, '/')).toMatchObject({ status: 400, body: expect.stringContaining('agent=NAME') });
  expect((await knock(hub, '/?agent=hub')).status).toBe(400);
  expect((await knock(hub, '/?agent=a:b')).status).toBe(400);
  expect((await knock(hub, `/?agent=${'x'.repeat(65)}`)).status).toBe(400);
  expect((await knock(hub, '/?agent=a&role=Not%20A%20Role')).status).toBe(400);
  expect((await knock(hub, '/?agent=a&v=9')).status).toBe(400);
  expect((await knock(hub, '/elsewhere?agent=a')).status).toBe(404);
  expect((await knock(hub, '/ws?agent=a&role=coder')).status).toBe(101);
  expect((await knock(hub, '/?agent=a', {}, ['hub.v1'])).protocol).toBe('hub.v1');
});

test('R-HUB-4: where a token is needed it is asked for before the name, and a bound one fits its name alone', async () => {
  const hub = await testHub({ auth: 'required' });
  const bound = hub.grant({ agent: 'coder-1', scopes: ['work'] });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  expect((await knock(hub, '/?agent=a:b')).status).toBe(401);
  expect((await knock(hub, '/?agent=coder-1', bearer('nope'))).status).toBe(401);
  expect((await knock(hub, `/?agent=coder-1&token=${bound}`)).status).toBe(401);
  expect((await knock(hub, '/?agent=coder-2', bearer(bound))).status).toBe(401);
  expect((await knock(hub, '/?agent=coder-1', bearer(bound))).status).toBe(101);
  expect((await knock(hub, '/?agent=coder-1', {}, ['hub.v1', `hub.token.${bound}`])).status).toBe(101);
  expect((await knock(hub, '/?agent=coder-1', { ...bearer(bound), origin: 'http://evil.example' })).status).toBe(403);
  hub.revoke(bound);
  expect((await knock(hub, '/?agent=coder-1', bearer(bound))).status).toBe(401);
});

test('R-HUB-4: a wrong token is told as wrong, a missing one as missing, by HTTP too', async () => {
  const hub = await testHub({ auth: 'required' });
  const answer = async (headers: Record<string, string>) => {
    const response = await fetch(`${hub.url.replace('ws', 'http')}/v1/agents`, { headers });
    return [response.status, ((await response.json()) as { error: { message: string } }).error.message];
  };
  expect(await answer({})).toEqual([401, expect.stringContaining('a token is needed')]);
  expect(await answer({ authorization: 'Bearer nope' })).toEqual([
    401,
    expect.stringContaining('this token is none of this hub'),
  ]);
});

test('R-HUB-15: a full hub says so and when to come back', async () => {
  const hub = await testHub({ limits: { connections: 1 } });
  const first = new WebSocket(`${hub.url}/?agent=a`);
  await once(first, 'open');
  expect((await knock(hub, '/?agent=b')).status).toBe(503);
});

test('R-HUB-4: a hub on another address than loopback asks for tokens by itself', async () => {
  const hub = await testHub({ host: '0.0.0.0', hostNames: ['127.0.0.1'] });
  const local = { ...hub, url: `ws://127.0.0.1:${hub.port}` };
  expect((await knock(local, '/?agent=a')).status).toBe(401);
});

test('R-HUB-4: a port in use is told as such', async () => {
  const hub = await testHub();
  await expect(testHub({ port: hub.port })).rejects.toMatchObject({ code: 'port_in_use' });
});
