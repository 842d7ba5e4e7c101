import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expose } from '../../base/prometheus.ts';
import { assign, crew, takeUp } from '../../test/helpers/crew.ts';
import { join0, join1, result, testFolder, testHub } from '../../test/helpers/hub.ts';
import { connectPeer } from '../../test/helpers/peer.ts';
import { Counts, Histogram } from '../counters.ts';
import type { RunningHub } from '../index.ts';
import { byLabel, ranges } from './exposition.ts';

/** Every line of `/metrics` by what stands before its number. */
async function scrape(hub: RunningHub): Promise<Record<string, number>> {
  const response = await fetch(`http://127.0.0.1:${hub.port}/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

test('R-HUB-76: what goes through the hub is counted: frames, errors, connections, sessions, commits, delivery', async () => {
  const hub = await testHub({
    database: join(await testFolder(), 'log.db'),
    clocks: { ping: 30, pong: 20 },
    limits: { upgradesPerSecond: 3 },
  });
  const a = await join1(hub, 'a');
  const b = await join1(hub, 'b');
  b.acks = false;
  a.send({ type: 'route', to: 'b', payload: 1 });
  const message = await b.next('route');
  a.socket.send('{oops');
  await a.next('error');
  b.socket.terminate();
  const again = await join1(hub, 'b');
  expect(await again.next('route')).toMatchObject({ id: message.id });
  const c = await join0(hub, 'c');
  const d = await connectPeer(hub.url, 'd-1');
  for (const name of ['d-2', 'd-3']) await connectPeer(hub.url, name);
  await expect(connectPeer(hub.url, 'd-4')).rejects.toThrow('429');
  await d.close();
  await c.ping();
  await expect.poll(async () => (await scrape(hub)).hub_ping_rtt_seconds_count).toBeGreaterThan(0);
  const seen = await scrape(hub);
  expect(seen).toMatchObject({
    'hub_connections{level="0"}': 3,
    'hub_connections{level="1"}': 2,
    'hub_frames_total{dir="in",type="route"}': 1,
    'hub_frames_total{dir="in",type="hello"}': 3,
    'hub_frames_total{dir="in",type="unreadable"}': 1,
    'hub_frames_total{dir="out",type="route"}': 2,
    'hub_frames_total{dir="out",type="welcome"}': 3,
    'hub_frames_total{dir="out",type="error"}': 1,
    'hub_errors_total{code="bad_json"}': 1,
    'hub_refused_total{status="429"}': 1,
    'hub_resume_total{state="new"}': 3,
    hub_redelivered_total: 1,
    'hub_mailbox_depth{agent="b"}': expect.any(Number),
    'hub_inflight{agent="a"}': 0,
    'hub_out_buffer_bytes{agent="a"}': 0,
    hub_agents: 6,
    hub_log_position: 1,
  });
  expect(seen['hub_disconnects_total{code="1006"}']).toBe(1);
  expect(seen.hub_route_seconds_count).toBe(1);
  expect(seen['hub_route_seconds_bucket{le="+Inf"}']).toBe(1);
  expect(seen.hub_commit_seconds_count).toBe(seen.hub_commit_batch_count);
  expect(seen.hub_commit_batch_sum).toBeGreaterThanOrEqual(4);
  expect(seen.hub_db_bytes).toBeGreaterThan(4096);
  await expect.poll(async () => (await scrape(hub)).hub_eventloop_lag_seconds_count).toBeGreaterThan(0);
});

test('R-HUB-76: what becomes of tasks is counted: waits, attempts, ends, silence, stale results', async () => {
  const hub = await testHub({ clocks: { silence: 80, backoffBase: 1 }, concurrency: 2 });
  const { owner, workers } = await crew(hub, 'coder-1');
  const [coder] = workers;
  assign(owner, 't1');
  await takeUp(coder);
  expect(await scrape(hub)).toMatchObject({ 'hub_tasks{state="working"}': 1, 'hub_tasks{state="queued"}': 0 });
  await coder.next('task.cancel');
  coder.send({ type: 'task.result', task_id: 't1', attempt: 1, payload: result('late') });
  await coder.next('error', ({ payload }) => payload.code === 'stale_attempt');
  await takeUp(coder, 2);
  coder.send({ type: 'task.result', task_id: 't1', attempt: 2, payload: result('done') });
  await owner.next('task.result');
  expect(await scrape(hub)).toMatchObject({
    'hub_tasks{state="working"}': 0,
    'hub_attempts_total{outcome="lost"}': 1,
    'hub_attempts_total{outcome="success"}': 1,
    'hub_tasks_ended_total{state="done"}': 1,
    hub_task_wait_seconds_count: 2,
    'hub_task_run_seconds_count{role="coder"}': 2,
    hub_lease_expired_total: 1,
    hub_stale_results_total: 1,
  });
});

test('R-HUB-76: lines for agents stay few, however many names there are', async () => {
  const hub = await testHub({ limits: { upgradesPerSecond: 0 } });
  const names = Array.from({ length: 300 }, (_, index) => `n-${index}`);
  await Promise.all(names.map(async (name) => (await join1(hub, name)).close()));
  const last = await join1(hub, 'last');
  await last.ping();
  const depths = Object.keys(await scrape(hub)).filter((name) => name.startsWith('hub_mailbox_depth'));
  expect(depths).toHaveLength(256);
  expect(depths).toContain('hub_mailbox_depth{agent="last"}');
});

test('R-HUB-76: the numbers are told in the format of Prometheus', async () => {
  const values = new Histogram([1, 2]);
  values.observe(1);
  values.observe(1.5, 2);
  values.observe(9);
  const counts = new Counts();
  counts.add('a"b\\c\nd');
  const { text } = await expose([
    { type: 'histogram', name: 'h', help: 'ranges', samples: () => ranges('h', values) },
    { type: 'counter', name: 'c_total', help: 'counts', samples: () => byLabel('x', counts) },
  ]);
  expect(text.split('\n')).toEqual([
    '# HELP h ranges',
    '# TYPE h histogram',
    'h_bucket{le="1"} 1',
    'h_bucket{le="2"} 3',
    'h_bucket{le="+Inf"} 4',
    'h_sum 13',
    'h_count 4',
    '',
    '# HELP c_total counts',
    '# TYPE c_total counter',
    'c_total{x="a\\"b\\\\c\\nd"} 1',
    '',
  ]);
});
