import { sleep } from '../../base/time.ts';
import type { Exchange } from './format.ts';
import { NotRecorded } from './not-recorded.ts';
import { errorOf } from './recorded-failure.ts';

/** How long a reply that was given up in the recording may wait to be given up again, ms. */
const GIVEN_UP = 2000;
/** So many chunks come before others get their turn. */
const AT_ONCE = 64;

/** What a recorded exchange was, once more and at once: the answer with its chunks and its end, or the error. */
export async function playedResponse(exchange: Exchange, signal: AbortSignal): Promise<Response> {
  signal.throwIfAborted();
  const { status, headers } = exchange;
  if (status === undefined) throw await endOf(exchange, signal);
  const hasBody = exchange.chunks.length > 0 || exchange.end !== 'whole';
  return new Response(hasBody ? bodyOf(exchange, signal) : null, { status, headers });
}

function bodyOf(exchange: Exchange, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let at = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if (at % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
        const chunk = exchange.chunks[at];
        at += 1;
        if (chunk) controller.enqueue(encoder.encode(chunk[1]));
        else if (exchange.end === 'whole' || exchange.end === 'left') controller.close();
        else throw await endOf(exchange, signal);
      },
    },
    { highWaterMark: 0 },
  );
}

async function endOf({ end, failure }: Exchange, signal: AbortSignal): Promise<Error> {
  if (end === 'aborted' && failure?.kind !== 'timeout' && failure?.kind !== 'stalled') {
    // who gave it up then will do so now, if the run goes the same way
    await sleep(GIVEN_UP, signal);
    return new NotRecorded(
      `The recording ends in the middle of this reply: it was given up there (${failure?.message ?? 'no reason is known'}). Record the run anew.`,
    );
  }
  return errorOf(failure ?? { message: 'terminated' });
}
