import { expect } from 'vitest';
import { ModelError, type ModelErrorKind } from '../../core/model.ts';
import type { Timeouts } from '../../llm/upstream/watchdog.ts';
import type { Fault } from '../../testing/script.ts';
import { asking, gatewayBench } from './gateway-bench.ts';

/** One fault of a provider, and what a model call comes to that meets it each time. */
export interface FaultCase {
  readonly name: string;
  readonly fault: Fault;
  /** The kind of the error, or `reply` where the call succeeds all the same. */
  readonly ends: ModelErrorKind | 'reply';
  /** Tries that it takes, of two at most. */
  readonly tries: 1 | 2;
  /** Within so many ms, after those that it must take. */
  readonly least?: number;
  readonly most?: number;
  readonly timeouts?: Partial<Timeouts>;
  /** Played in every run of the tests, as a sample. */
  readonly sample?: true;
}

const text = 'a text of several deltas, so that a cut falls inside it';
/** Silences are scaled down some 300 times. */
const scaled: Timeouts = { firstByteMs: 600, idleMs: 300, progressMs: 700, replyMs: 6000, afterFinishMs: 5000 };
/** For replies that keep one process busy on both sides. */
const patient: Timeouts = {
  firstByteMs: 10_000,
  idleMs: 10_000,
  progressMs: 10_000,
  replyMs: 20_000,
  afterFinishMs: 5000,
};
const retry = { attempts: 2, baseMs: 5, capMs: 20, maxWaitMs: 1000 };
const always = 'always';

const status = (code: number, more: object = {}): Fault => ({ type: 'status', status: code, times: always, ...more });
const limited = (headers: Record<string, string>) => status(429, { headers });
const epoch = () => Date.now() / 1000;

export const faultCases: readonly FaultCase[] = [
  { name: '429 without a word', fault: status(429), ends: 'rate_limit', tries: 2 },
  {
    name: '429, retry-after-ms',
    fault: limited({ 'retry-after-ms': '300' }),
    ends: 'rate_limit',
    tries: 2,
    least: 300,
  },
  {
    name: '429, seconds',
    fault: limited({ 'retry-after': '0.3' }),
    ends: 'rate_limit',
    tries: 2,
    least: 300,
    sample: true,
  },
  {
    ...{ name: '429, a date', ends: 'rate_limit', tries: 2, sample: true },
    fault: limited({ 'retry-after': new Date(Date.now() - 60_000).toUTCString() }),
  },
  {
    name: '429, reset as a duration',
    fault: limited({ 'x-ratelimit-reset-requests': '300ms' }),
    ends: 'rate_limit',
    tries: 2,
    least: 300,
  },
  {
    name: '429, reset in seconds',
    fault: limited({ 'x-ratelimit-reset': '0.3' }),
    ends: 'rate_limit',
    tries: 2,
    least: 300,
  },
  {
    name: '429, reset in epoch seconds',
    fault: limited({ 'x-ratelimit-reset': String(epoch() - 60) }),
    ends: 'rate_limit',
    tries: 2,
  },
  {
    ...{ name: '429, reset in epoch milliseconds, far away', ends: 'rate_limit', tries: 1 },
    fault: limited({ 'x-ratelimit-reset': String(Math.round(epoch() * 1000) + 3_600_000) }),
  },
  { name: '429, a negative wait', fault: limited({ 'retry-after': '-5' }), ends: 'rate_limit', tries: 2 },
  { name: '429, an absurd wait', fault: limited({ 'retry-after': '99999999' }), ends: 'rate_limit', tries: 2 },
  { name: '429, longer than allowed', fault: limited({ 'retry-after': '3600' }), ends: 'rate_limit', tries: 1 },
  { name: '429, not to be retried', fault: limited({ 'x-should-retry': 'false' }), ends: 'rate_limit', tries: 1 },
  { name: '429, an empty account', fault: status(429, { code: 'insufficient_quota' }), ends: 'quota', tries: 1 },
  { name: '400', fault: status(400), ends: 'bad_request', tries: 1 },
  {
    name: '400, to be retried',
    fault: status(400, { headers: { 'x-should-retry': 'true' } }),
    ends: 'bad_request',
    tries: 2,
  },
  {
    name: '400, too long',
    fault: status(400, { message: 'maximum context length is 9 tokens' }),
    ends: 'context_length',
    tries: 1,
  },
  { name: '401', fault: status(401), ends: 'auth', tries: 1 },
  { name: '402', fault: status(402), ends: 'quota', tries: 1 },
  { name: '403', fault: status(403), ends: 'auth', tries: 1 },
  {
    name: '404, an unknown model',
    fault: status(404, { message: 'model not found' }),
    ends: 'misconfigured',
    tries: 1,
    sample: true,
  },
  { name: '408', fault: status(408), ends: 'server', tries: 2 },
  { name: '409', fault: status(409), ends: 'server', tries: 2 },
  { name: '413', fault: status(413), ends: 'context_length', tries: 1 },
  { name: '422', fault: status(422), ends: 'bad_request', tries: 1 },
  { name: '500', fault: status(500), ends: 'server', tries: 2, sample: true },
  { name: '502', fault: status(502), ends: 'server', tries: 2 },
  { name: '503', fault: status(503), ends: 'overloaded', tries: 2 },
  { name: '529', fault: status(529), ends: 'overloaded', tries: 2 },
  { name: 'cut before the answer', fault: { type: 'cut', after: 0, times: always }, ends: 'server', tries: 2 },
  { name: 'reset before the answer', fault: { type: 'reset', after: 0, times: always }, ends: 'server', tries: 2 },
  { name: 'reset behind the headers', fault: { type: 'reset', after: 1, times: always }, ends: 'incomplete', tries: 2 },
  { name: 'cut in the middle', fault: { type: 'cut', after: 2, times: always }, ends: 'incomplete', tries: 2 },
  {
    name: 'reset in the middle',
    fault: { type: 'reset', after: 3, times: always },
    ends: 'incomplete',
    tries: 2,
    sample: true,
  },
  {
    name: 'silence behind the headers',
    fault: { type: 'stall', after: 0, times: always },
    ends: 'timeout',
    tries: 2,
    least: 1200,
  },
  {
    name: 'silence in the middle',
    fault: { type: 'stall', after: 2, times: always },
    ends: 'stalled',
    tries: 2,
    least: 600,
    sample: true,
  },
  {
    name: 'keep-alives only',
    fault: { type: 'comments', after: 2, ms: 50, times: always },
    ends: 'stalled',
    tries: 2,
    least: 1400,
  },
  { name: 'an HTML page', fault: { type: 'html', times: always }, ends: 'not_sse', tries: 2, sample: true },
  {
    name: 'a wrong content type',
    fault: { type: 'content_type', value: 'text/html', times: always },
    ends: 'reply',
    tries: 1,
  },
  {
    name: '200 with an error body',
    fault: { type: 'error_body', message: 'at capacity', times: always },
    ends: 'overloaded',
    tries: 2,
    sample: true,
  },
  {
    name: '200 with a refusal',
    fault: { type: 'error_body', message: 'x', code: 'invalid_api_key', times: always },
    ends: 'auth',
    tries: 1,
  },
  {
    name: 'an error in the stream',
    fault: { type: 'error_event', message: 'upstream broke', times: always },
    ends: 'server',
    tries: 2,
  },
  { name: 'nothing', fault: { type: 'empty', times: always }, ends: 'empty', tries: 2 },
  { name: 'gzip', fault: { type: 'gzip', cut: false, times: always }, ends: 'reply', tries: 1, sample: true },
  { name: 'gzip that breaks off', fault: { type: 'gzip', cut: true, times: always }, ends: 'incomplete', tries: 2 },
  {
    name: 'a slow drip',
    fault: { type: 'drip', bytes: 200, ms: 20, times: always },
    ends: 'reply',
    tries: 1,
    least: 100,
  },
  {
    name: 'a drip that never gets done',
    fault: { type: 'drip', bytes: 2, ms: 60, times: always },
    ends: 'stalled',
    tries: 2,
    least: 1400,
  },
  {
    name: 'a drip of whole events without end',
    fault: { type: 'drip', bytes: 80, ms: 130, times: always },
    ends: 'timeout',
    tries: 2,
    timeouts: { replyMs: 1200 },
    least: 2400,
  },
  {
    ...{ name: 'a huge line', ends: 'reply', tries: 1, timeouts: patient },
    fault: { type: 'huge_line', bytes: 5_000_000, times: always },
  },
  {
    ...{ name: 'a reply of 10 MB', ends: 'reply', tries: 1, timeouts: patient, most: 15_000 },
    fault: { type: 'big_reply', bytes: 10_000_000, times: always },
  },
];

/** Plays one case between an agent's model, the gateway and a model server, all over HTTP. */
async function playFault({ fault, timeouts }: FaultCase) {
  const bench = await gatewayBench(
    { coder: [{ text, fault }] },
    {
      ...{ timeouts: { ...scaled, ...timeouts }, retry, keepAliveMs: 100 },
    },
  );
  const { model } = await bench.agent('coder-1', 'run.code');
  const began = performance.now();
  const outcome = await model.reply(asking(), bench.signal).catch((error: unknown) => error);
  const ms = performance.now() - began;
  if (outcome instanceof ModelError) return { ...bench, ms, ends: outcome.kind, message: outcome.message };
  if (outcome instanceof Error) throw outcome;
  return { ...bench, ms, ends: 'reply' as const, message: '' };
}

/** Plays a case, and holds it to its class, its tries, its time, a next step in its words, and nothing left open. */
export async function expectFault(one: FaultCase): Promise<void> {
  const before = activeResources();
  const { ends, ms, message, server, gateway } = await playFault(one);
  expect({ ends, tries: server.requests.length }, message).toEqual({ ends: one.ends, tries: one.tries });
  expect(ms).toBeGreaterThanOrEqual(one.least ?? 0);
  expect(ms).toBeLessThan(one.most ?? 6000);
  if (ends !== 'reply') expect(message).toMatch(/\. (Set|Run|Check|Say|Top)|, or set /);
  await gateway.close();
  await server.close();
  await expect.poll(activeResources).toBe(before);
}

/** What keeps the process alive, without what the test's own process has besides. */
function activeResources(): string {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name !== 'PipeWrap')
    .sort()
    .join(' ');
}
