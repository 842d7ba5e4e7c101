import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { gatewayOver, hello, upstream } from '../../test/helpers/bare-upstream.ts';

/** A proxy that leads every host to one server, and tells what it was asked for. */
async function proxyTo(url: string) {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    hello(request, response);
  });
  proxy.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const onward = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward]) end.on('error', () => onward.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { asked, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

test('R-LLM-22: a far endpoint is asked through the proxy that the environment names', async () => {
  const far = await upstream(hello);
  const proxy = await proxyTo(far.url);
  const { ask } = await gatewayOver({
    upstream: { baseURL: 'http://model.invalid/v1', apiKey: 'key-of-the-model' },
    proxies: { httpProxy: proxy.url, httpsProxy: proxy.url },
  });
  expect((await ask()).content).toBe('hello');
  expect(proxy.asked).toHaveLength(1);
  expect(proxy.asked[0]).toContain('model.invalid');
});

test('R-LLM-22: this machine is never reached through a proxy, nor is a host that is exempted', async () => {
  const near = await upstream(hello);
  const proxy = await proxyTo(near.url);
  const { ask } = await gatewayOver({
    upstream: { baseURL: near.url, apiKey: '' },
    proxies: { httpProxy: proxy.url, httpsProxy: proxy.url, followedByNode: true },
  });
  expect((await ask()).content).toBe('hello');
  const exempt = await gatewayOver({
    upstream: { baseURL: 'http://model.invalid/v1', apiKey: '' },
    proxies: { httpProxy: proxy.url, noProxy: 'other.invalid,model.invalid' },
  });
  await expect(exempt.ask()).rejects.toThrow('cannot be reached');
  expect(proxy.asked).toEqual([]);
});
