import { once } from 'node:events';
import { connect } from 'node:net';
import type { Random } from '../helpers/random.ts';

const paths = [
  '/',
  '/ws',
  '/healthz',
  '/readyz',
  '/metrics',
  '/v1/agents',
  '/v1/tasks',
  '/v1/tasks/task-1',
  '/v1/tasks/task-1/timeline',
  '/v1/log',
  '/v1/log?last=5',
  '/v1/dead',
];

const queries = [
  'after_lsn',
  'task_id',
  'tree',
  'type',
  'agent',
  'since',
  'limit',
  'last',
  'prefix',
  'state',
  'stuck',
  'v',
  'role',
];

const values = [
  '',
  '0',
  '-1',
  '1e9',
  '99999999999999999999',
  'NaN',
  '%',
  '%00',
  '%zz',
  '%F0%9F',
  'a%20b',
  '..',
  'x'.repeat(2000),
  '1',
];

/** One request to the hub's port that no sound client would make, or one that it would; resolves to the first line of the answer, '' for none. */
export async function makeNoise(port: number, random: Random): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  let answer = '';
  socket.on('data', (data: Buffer) => {
    // who was answered waits for nothing more; a long answer is thus cut off
    if (answer === '') setTimeout(() => socket.destroy(), 10).unref();
    if (answer.length < 64) answer += data.subarray(0, 64).toString('latin1');
  });
  const closed = once(socket, 'close');
  await once(socket, 'connect').catch(() => undefined);
  socket.write(requestOf(port, random));
  if (random.chance(0.1)) socket.destroy();
  else setTimeout(() => socket.destroy(), 200).unref();
  await closed;
  return answer.split('\r\n')[0] ?? '';
}

function requestOf(port: number, random: Random): Buffer {
  if (random.chance(0.05)) return Buffer.from(Array.from({ length: random.int(300) }, () => random.int(256)));
  if (random.chance(0.2)) return Buffer.from(`GET ${random.pick(paths)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  const method = random.pick([
    'GET',
    'GET',
    'GET',
    'HEAD',
    'POST',
    'DELETE',
    'OPTIONS',
    'CONNECT',
    'PRI',
    'G\u0000T',
    '',
  ]);
  const host = random.pick([
    `127.0.0.1:${port}`,
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    'evil.example',
    '',
    `127.0.0.1:${port}.evil.example`,
  ]);
  const lines = [`${method} ${pathOf(random)} HTTP/1.1`, `Host: ${host}`, ...headersOf(random)];
  return Buffer.from(
    `${lines.join(random.chance(0.05) ? '\n' : '\r\n')}\r\n\r\n${random.chance(0.1) ? 'a=1&b=2' : ''}`,
    'latin1',
  );
}

function pathOf(random: Random): string {
  if (random.chance(0.1))
    return random.pick([
      '//',
      '*',
      'http://evil.example/',
      '/%',
      '/?agent',
      '/?agent=%00',
      '/\\',
      '/v1/tasks/%2e%2e',
      `/${'a/'.repeat(500)}`,
      '?',
      '',
    ]);
  const query = Array.from({ length: random.int(3) }, () => `${random.pick(queries)}=${random.pick(values)}`);
  const agent = random.chance(0.3) ? [`agent=${random.pick(['noise', 'hub', 'a b', '', '%ff', 'x'.repeat(65)])}`] : [];
  const path = random.pick(paths);
  const all = [...agent, ...query];
  return all.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${all.join('&')}`;
}

function headersOf(random: Random): string[] {
  const headers: string[] = [];
  if (random.chance(0.3))
    headers.push('Connection: Upgrade', `Upgrade: ${random.pick(['websocket', 'WebSocket', 'h2c', ''])}`);
  if (random.chance(0.3)) headers.push(`Sec-WebSocket-Version: ${random.pick(['13', '8', 'x'])}`);
  if (random.chance(0.3)) headers.push(`Sec-WebSocket-Key: ${random.pick(['dGhlIHNhbXBsZSBub25jZQ==', 'short', ''])}`);
  if (random.chance(0.2))
    headers.push(`Sec-WebSocket-Protocol: ${random.pick(['hub.v1', 'hub.token.x, hub.v1', ',,,', ''])}`);
  if (random.chance(0.1))
    headers.push(
      `Sec-WebSocket-Extensions: ${random.pick(['permessage-deflate', 'permessage-deflate; x=1; x=1', ';;'])}`,
    );
  if (random.chance(0.1)) headers.push(`Origin: ${random.pick(['http://evil.example', 'null', ''])}`);
  if (random.chance(0.1))
    headers.push(`Authorization: ${random.pick(['Bearer x', 'Bearer', 'Basic eDp5', 'x'.repeat(5000)])}`);
  if (random.chance(0.1)) headers.push(`Content-Length: ${random.pick(['7', '-1', '999999999', 'x'])}`);
  if (random.chance(0.05)) headers.push(`Transfer-Encoding: ${random.pick(['chunked', 'x'])}`);
  if (random.chance(0.05)) headers.push(`Expect: ${random.pick(['100-continue', 'x'])}`);
  if (random.chance(0.05)) headers.push(`X-Long: ${'x'.repeat(20_000)}`);
  return headers;
}
