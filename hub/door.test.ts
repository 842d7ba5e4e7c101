import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { testHub } from '../test/helpers/hub.ts';
import { rawHttp, upgradeFields } from '../test/helpers/raw-http.ts';
import type { RunningHub } from './index.ts';

/** What an upgrade and a look at the log are answered with, for the same header lines. */
async function knock(hub: RunningHub, ...lines: string[]): Promise<[number, number]> {
  const [joined, looked] = await Promise.all([
    rawHttp(hub.port, ['GET /?agent=a HTTP/1.1', ...upgradeFields, ...lines]),
    rawHttp(hub.port, ['GET /v1/log HTTP/1.1', 'Connection: close', ...lines]),
  ]);
  return [joined.status, looked.status];
}

test('R-HUB-77: a Host that is not this very address is refused, for agents as for those who look', async () => {
  const hub = await testHub({ limits: { upgradesPerSecond: 0 } });
  const { port } = hub;
  const good = [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `LocalHost:${port}`, `[::1]:${port}`];
  for (const host of good) expect([host, await knock(hub, `Host: ${host}`)]).toEqual([host, [101, 200]]);
  const bad = [
    `127.0.0.1.evil.example:${port}`,
    `127.evil.example:${port}`,
    '127.evil.example',
    `localhost.evil.example:${port}`,
    `localhost.:${port}`,
    `evil.example:${port}`,
    `127.0.0.1:${port}.evil.example`,
    `127.0.0.1:${port}@evil.example`,
    `evil.example#127.0.0.1:${port}`,
    `127.0.0.1:${port + 1}`,
    `127.0.0.1:0${port}`,
    `127.0.0.2:${port}`,
    `2130706433:${port}`,
    `0x7f.1:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `::1:${port}`,
    '127.0.0.1',
    'localhost',
    '[::1]',
    '',
  ];
  for (const host of bad) expect([host, await knock(hub, `Host: ${host}`)]).toEqual([host, [403, 403]]);
  // Plain HTTP without one is answered by Node itself.
  expect(await knock(hub)).toEqual([403, 400]);
});

test('R-HUB-77: of two Host headers none counts, and the address in the request line is no Host', async () => {
  const hub = await testHub();
  const own = `Host: 127.0.0.1:${hub.port}`;
  for (const pair of [
    [own, 'Host: evil.example'],
    ['Host: evil.example', own],
    [own, own],
  ]) {
    const answers = await knock(hub, ...pair);
    expect(answers.every((status) => status === 400 || status === 403)).toBe(true);
  }
  const line = `GET http://127.0.0.1:${hub.port}/v1/log HTTP/1.1`;
  expect((await rawHttp(hub.port, [line, 'Host: evil.example', 'Connection: close'])).status).toBe(403);
});

test('R-HUB-77: a page of another origin gets nothing, not even of the hub’s own address', async () => {
  const hub = await testHub({ origins: ['https://good.example'], limits: { upgradesPerSecond: 0 } });
  const from = (...lines: string[]) => knock(hub, `Host: 127.0.0.1:${hub.port}`, ...lines);
  expect(await from('Origin: https://good.example')).toEqual([101, 200]);
  for (const origin of [
    `http://127.0.0.1:${hub.port}`,
    `ws://127.0.0.1:${hub.port}`,
    'null',
    '',
    'https://GOOD.example',
    'https://good.example/',
    'https://good.example.evil.example',
    'https://evil.example',
    'http://good.example',
  ]) {
    expect([origin, await from(`Origin: ${origin}`)]).toEqual([origin, [403, 403]]);
  }
  expect(await from('Origin: https://good.example', 'Origin: https://evil.example')).toEqual([403, 403]);
  // What browsers say of a request without an Origin: an image or a script that another site's page asks for.
  for (const site of ['cross-site', 'same-site']) expect(await from(`Sec-Fetch-Site: ${site}`)).toEqual([403, 403]);
  for (const site of ['same-origin', 'none']) expect(await from(`Sec-Fetch-Site: ${site}`)).toEqual([101, 200]);
});

test('R-HUB-77: the health of a hub is not told to strangers either, and no answer lets a page read it', async () => {
  const hub = await testHub({ origins: ['https://good.example'] });
  for (const path of ['/', '/healthz', '/readyz', '/metrics', '/v1/agents', '/nope']) {
    const asked = [`GET ${path} HTTP/1.1`, 'Connection: close'];
    expect((await rawHttp(hub.port, [...asked, `Host: evil.example:${hub.port}`])).status).toBe(403);
    const own = await rawHttp(hub.port, [...asked, `Host: 127.0.0.1:${hub.port}`, 'Origin: https://good.example']);
    expect(own.text.toLowerCase()).not.toContain('access-control');
  }
  const preflight = await rawHttp(hub.port, [
    'OPTIONS /v1/dead HTTP/1.1',
    'Connection: close',
    `Host: 127.0.0.1:${hub.port}`,
    'Origin: https://good.example',
    'Access-Control-Request-Method: DELETE',
  ]);
  expect(preflight.status).toBe(405);
});

test('R-HUB-77: who says nothing, or not to the end, is timed out', async () => {
  const hub = await testHub({ clocks: { hello: 100 } });
  const began = performance.now();
  const silent = connect(hub.port, '127.0.0.1');
  const slow = connect(hub.port, '127.0.0.1');
  slow.write('GET /healthz HTTP/1.1\r\nHost: ');
  for (const socket of [silent, slow]) socket.on('data', () => undefined);
  await Promise.all([silent, slow].map((socket) => once(socket, 'close', { signal: AbortSignal.timeout(10_000) })));
  expect(performance.now() - began).toBeGreaterThan(900);
});

test('R-HUB-72: a token in the address is taken only where that was asked for, and a bound one for its name alone', async () => {
  const closed = await testHub({ auth: 'required' });
  const open = await testHub({ auth: 'required', tokenInQuery: true });
  const ask = async (hub: RunningHub, path: string, ...lines: string[]) => {
    return (await rawHttp(hub.port, [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${hub.port}`, ...lines])).status;
  };
  const tokenOf = (hub: RunningHub) => hub.grant({ agent: 'coder-1', scopes: ['work', 'watch'] });
  const [shut, fits] = [tokenOf(closed), tokenOf(open)];
  expect(await ask(closed, `/?agent=coder-1&token=${shut}`, ...upgradeFields)).toBe(401);
  expect(await ask(closed, `/v1/agents?token=${shut}`, 'Connection: close')).toBe(401);
  expect(await ask(open, `/?agent=coder-1&token=${fits}`, ...upgradeFields)).toBe(101);
  expect(await ask(open, `/?agent=coder-2&token=${fits}`, ...upgradeFields)).toBe(401);
  expect(await ask(open, `/?agent=coder-1&token=${shut}`, ...upgradeFields)).toBe(401);
  expect(await ask(open, `/v1/agents?token=${fits}`, 'Connection: close')).toBe(200);
});

test('R-HUB-72: a token that was drawn elsewhere is good for everything, and other machines need one in any case', async () => {
  const token = 'kept-from-an-earlier-start';
  const hub = await testHub({ auth: 'required', token });
  const ask = (value: string) =>
    fetch(`http://127.0.0.1:${hub.port}/v1/dead?all=1`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${value}` },
    });
  expect((await ask(token)).status).toBe(200);
  expect((await ask(`${token}x`)).status).toBe(401);
  await expect(testHub({ host: '0.0.0.0', auth: 'none' })).rejects.toMatchObject({ code: 'usage' });
  await expect(testHub({ host: '127.evil.example', auth: 'none' })).rejects.toMatchObject({ code: 'usage' });
});
