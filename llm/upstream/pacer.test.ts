import { expect, test } from 'vitest';
import { gatewayOver, provider, say } from '../../test/helpers/bare-upstream.ts';
import { Pacer } from './pacer.ts';

const never = new AbortController().signal;

/** How long each of several requests of so many tokens waited, ms. */
async function waits(pacer: Pacer, ...sizes: number[]) {
  const told: number[] = [];
  await Promise.all(
    sizes.map((size) =>
      pacer.pass(
        () => size,
        never,
        (ms) => told.push(ms),
      ),
    ),
  );
  return told;
}

const said = (name: string, limit: number, left: number, reset?: string) =>
  new Headers({
    [`x-ratelimit-limit-${name}`]: String(limit),
    [`x-ratelimit-remaining-${name}`]: String(left),
    ...(reset && { [`x-ratelimit-reset-${name}`]: reset }),
  });

test('R-LLM-21: a set limit lets a burst through and then so many a minute', async () => {
  expect(await waits(new Pacer({ requestsPerMinute: 3 }), 1, 1, 1)).toEqual([]);
  const [wait] = await waits(new Pacer({ tokensPerMinute: 60_000 }), 60_000, 100);
  expect(wait).toBeGreaterThan(90);
  expect(wait).toBeLessThanOrEqual(101);
  // one larger than the limit is not stopped for ever
  expect(await waits(new Pacer({ tokensPerMinute: 1000 }), 5000)).toEqual([]);
});

test('R-LLM-21: without a set limit, what the endpoint says of itself counts, in all its forms', async () => {
  const pacer = new Pacer();
  expect(await waits(pacer, 1e9)).toEqual([]);
  pacer.heard(said('requests', 10, 0, '1s'));
  const [wait] = await waits(pacer, 1);
  expect(wait).toBeGreaterThan(60);
  expect(wait).toBeLessThanOrEqual(101);
  pacer.heard(said('requests', 10, 10));
  pacer.heard(said('tokens', 1000, 500, '500ms'));
  expect(await waits(pacer, 500)).toEqual([]);
  expect((await waits(pacer, 50))[0]).toBeLessThanOrEqual(50);
});

test('R-LLM-21: what makes no sense is not learned, and a set limit is not unlearned', async () => {
  const pacer = new Pacer();
  for (const headers of [said('requests', 0, 0, '1s'), said('requests', 5, 9), said('tokens', -1, 0)])
    pacer.heard(headers);
  expect(await waits(pacer, 1e9)).toEqual([]);
  const set = new Pacer({ requestsPerMinute: 2 });
  set.heard(said('requests', 10, 0, '6m0s'));
  expect(await waits(set, 1, 1)).toEqual([]);
});

test('R-LLM-21: who gives up while waiting holds nobody up', async () => {
  const pacer = new Pacer();
  pacer.heard(said('requests', 10, 0, '1s'));
  const stop = new AbortController();
  const first = pacer.pass(
    () => 1,
    stop.signal,
    () => stop.abort(new Error('gave up')),
  );
  const second = pacer.pass(
    () => 1,
    never,
    () => {},
  );
  await expect(first).rejects.toThrow('gave up');
  await second;
});

test('R-LLM-21: all agents of a run share one pace, and one that waits hears signs of life', async () => {
  const at: number[] = [];
  const { url } = await provider((_, response) => {
    at.push(performance.now());
    for (const [name, value] of said('requests', 5, 0, '1s')) response.setHeader(name, value);
    say(response, 'fine');
  });
  const { gateway, ask } = await gatewayOver({ upstream: { baseURL: url, apiKey: '' }, keepAliveMs: 20 });
  await ask();
  const alive: string[] = [];
  const other = gateway.modelFor({ role: 'reviewer', agent: 'reviewer-1', taskId: 'run.review' });
  const request = { turns: [{ role: 'user' as const, content: 'x' }], tools: [], choice: 'default' as const, turn: 0 };
  await other.reply(request, never, ({ kind }) => alive.push(kind));
  expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(150);
  expect(alive.filter((kind) => kind === 'alive').length).toBeGreaterThan(2);
});
