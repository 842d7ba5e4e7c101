import { expect, test } from 'vitest';
import { testHub } from '../test/helpers/hub.ts';
import { manualClock } from '../test/helpers/manual-clock.ts';
import { connectPeer } from '../test/helpers/peer.ts';
import { rawHttp, upgradeHead } from '../test/helpers/raw-http.ts';
import { upgradePace } from './pace.ts';

test('R-HUB-79: a crowd of one kind is let in 16 a second, the others at once, and is told when to come back', async () => {
  const clock = manualClock();
  const hub = await testHub({ clock });
  for (let count = 0; count < 16; count += 1) await connectPeer(hub.url, `coder-${count}`);
  const refused = await rawHttp(hub.port, upgradeHead(hub.port, 'coder-99'));
  expect(refused.status).toBe(429);
  expect(refused.text).toMatch(/retry-after: 1\r\n/i);
  expect(JSON.parse(refused.text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: { code: 'rate_limited' } });
  await expect(connectPeer(hub.url, 'coder_7')).rejects.toThrow('429');
  for (const name of ['coder', 'reviewer-1', 'coder-x', 'coder-1-2']) {
    if (name === 'coder') await expect(connectPeer(hub.url, name)).rejects.toThrow('429');
    else await connectPeer(hub.url, name);
  }
  clock.advance(125);
  await connectPeer(hub.url, 'coder-99');
  await connectPeer(hub.url, 'coder-98');
  await expect(connectPeer(hub.url, 'coder-97')).rejects.toThrow('429');
});

test('R-HUB-79: with 0 there is no such limit, and what is kept in mind of names is bounded', () => {
  const clock = manualClock();
  const free = upgradePace(0, clock);
  expect(Array.from({ length: 100 }, () => free('a'))).toEqual(Array.from({ length: 100 }, () => 0));
  const pace = upgradePace(1, clock);
  expect([pace('a-1'), pace('a-2')]).toEqual([0, 1000]);
  for (let count = 0; count < 1024; count += 1) pace(`kind-${count}x`);
  // Forgotten, since a thousand others came after it.
  expect(pace('a-3')).toBe(0);
});

test('R-HUB-79: a full hub says when to come back', async () => {
  const hub = await testHub({ limits: { connections: 1 } });
  await connectPeer(hub.url, 'a');
  const refused = await rawHttp(hub.port, upgradeHead(hub.port, 'b'));
  expect(refused).toMatchObject({ status: 503, text: expect.stringMatching(/retry-after: 5\r\n/i) });
  expect((await fetch(`http://127.0.0.1:${hub.port}/readyz`)).status).toBe(200);
});
