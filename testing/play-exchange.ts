import type { ServerResponse } from 'node:http';
import { sleep } from '../base/time.ts';
import type { Exchange } from '../llm/cassette/format.ts';
import { breakOff } from './play-stream.ts';

/** Answers one request with what was recorded, and ends it as it ended then; `pace`: also as slowly. */
export async function playExchange(response: ServerResponse, exchange: Exchange, pace: boolean): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const { status, headers, chunks, end } = exchange;
  if (status !== undefined) response.writeHead(status, headers).flushHeaders();
  let last = 0;
  for (const [ms, text] of chunks) {
    if (pace) await sleep(ms - last, gone.signal).catch(ignoreGone);
    last = ms;
    if (gone.signal.aborted) return;
    response.write(text);
    // each chunk its own packet, as it came
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (end === 'whole' || end === 'left') response.end();
  else if (end === 'cut') breakOff(response, 'cut');
  // who gave it up then will do so now: it stays open
}

function ignoreGone(): void {}
