import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import type { KeptReply } from './mask-reply.ts';
import { ReplyMasker } from './reply-masker.ts';

const secret = 'swordfish-9931';
const reading = { offered: new Set<string>(), types: {}, model: 'big' };

/** A masker, and what became of a reply of one line of so many characters that came in pieces of 1,000 bytes. */
function maskingLine(length: number) {
  const replies = new ReplyMasker([secret], silentLog());
  onTestFinished(() => replies.close());
  const delta = { content: `${'a line\n'.repeat(length / 8)}${secret}` };
  const body = `data: ${JSON.stringify({ choices: [{ delta, finish_reason: 'stop' }] })}\n\n`;
  const chunks = Array.from({ length: Math.ceil(body.length / 1000) }, (_, at): [number, string] => [
    at,
    body.slice(at * 1000, at * 1000 + 1000),
  ]);
  const results: KeptReply[] = [];
  replies.mask(chunks, reading, (kept) => results.push(kept));
  return { replies, results, body, size: chunks.length };
}

test('R-LLM-88: a long line in many chunks is masked in a thread while everything else goes on', async () => {
  const { replies, results, body, size } = maskingLine(1_000_000);
  let turns = 0;
  while (results.length === 0 && turns < 1e7) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  expect(turns).toBeGreaterThan(20);
  expect(results).toMatchObject([{ good: true }]);
  expect(results[0]?.chunks).toHaveLength(size);
  expect(results[0]?.chunks?.map(([, text]) => text).join('')).toBe(body.replace(secret, '***'));
  await replies.close();
});

test('R-LLM-88: the end of a recording waits for long replies; one whose thread died is left out', async () => {
  const waiting = maskingLine(200_000);
  await waiting.replies.close();
  expect(waiting.results).toMatchObject([{ good: true }]);

  process.once('worker', (worker) => void worker.terminate());
  const dead = maskingLine(200_000);
  await dead.replies.close();
  expect(dead.results).toEqual([{ good: false, chunks: [] }]);
});

test('R-LLM-88: a short reply is masked at once', () => {
  expect(maskingLine(2000).results).toMatchObject([{ good: true }]);
});
