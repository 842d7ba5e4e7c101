import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { sleep } from '../base/time.ts';
import type { Fault, Step } from './script.ts';
import { eventsOf, type Frame } from './script-events.ts';

/** One reply to be streamed. */
interface Streaming {
  readonly step: Step;
  readonly fault: Fault | undefined;
  readonly frame: Frame;
  /** Fires when the client went away. */
  readonly gone: AbortSignal;
}

/** Streams a step's events, or what a fault makes of them. */
export async function playStream(response: ServerResponse, { step, fault, frame, gone }: Streaming): Promise<void> {
  const type = fault?.type === 'content_type' ? fault.value : 'text/event-stream';
  const packed = fault?.type === 'gzip' ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache', ...packed }).flushHeaders();
  const write = writerFor(response, fault, gone);
  const events = eventsOf(step, frame);
  for (const [at, event] of events.entries()) {
    if (fault && 'after' in fault && at >= fault.after) return await stop(response, fault, gone);
    if (fault?.type === 'gzip' && fault.cut && at >= events.length / 2) return void response.end();
    if (fault?.type === 'error_event' && at >= 1) {
      response.end(`data: ${JSON.stringify({ error: { message: fault.message } })}\n\n`);
      return;
    }
    if (step.pace_ms > 0 && at > 0) await sleep(step.pace_ms, gone).catch(ignoreGone);
    if (gone.aborted) return;
    const padding = fault?.type === 'huge_line' && at === 0 ? { padding: 'x'.repeat(fault.bytes) } : {};
    await write(`data: ${JSON.stringify({ ...padding, ...event })}\n\n`);
  }
  if (fault?.type === 'stall' || fault?.type === 'comments') return await stop(response, fault, gone);
  await write('data: [DONE]\n\n', true);
}

/** Ends the connection in the middle, as a server that dies or as one that is reset. */
export function breakOff(response: ServerResponse, how: 'cut' | 'reset'): void {
  if (how === 'reset') response.socket?.resetAndDestroy();
  else response.destroy();
}

type Write = (text: string, last?: boolean) => Promise<void>;

function writerFor(response: ServerResponse, fault: Fault | undefined, gone: AbortSignal): Write {
  if (fault?.type === 'gzip') return packedWriter(response);
  if (fault?.type === 'drip') return drippingWriter(response, fault, gone);
  return async (text, last = false) => {
    response.write(text);
    if (last) response.end();
    // each event its own packet, so that a fault behind it finds it sent
    await new Promise((resolve) => setImmediate(resolve));
    if (last || gone.aborted || !response.writableNeedDrain) return;
    await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve));
  };
}

function packedWriter(response: ServerResponse): Write {
  const gzip = createGzip();
  gzip.on('data', (bytes: Buffer) => response.write(bytes));
  return async (text, last = false) => {
    gzip.write(text);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    if (!last) return;
    gzip.end();
    await finished(gzip);
    response.end();
  };
}

function drippingWriter(
  response: ServerResponse,
  { bytes, ms }: { bytes: number; ms: number },
  gone: AbortSignal,
): Write {
  return async (text, last = false) => {
    const whole = Buffer.from(text);
    for (let at = 0; at < whole.length && !gone.aborted; at += bytes) {
      response.write(whole.subarray(at, at + bytes));
      await sleep(ms, gone).catch(ignoreGone);
    }
    if (last) response.end();
  };
}

/** What comes instead of the rest. */
async function stop(response: ServerResponse, fault: Fault, gone: AbortSignal): Promise<void> {
  if (fault.type === 'cut' || fault.type === 'reset') return breakOff(response, fault.type);
  while (fault.type === 'comments' && !gone.aborted) {
    response.write(': still here\n\n');
    await sleep(fault.ms, gone).catch(ignoreGone);
  }
}

function ignoreGone(): void {}
