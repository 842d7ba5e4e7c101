import type { Exchange } from './format.ts';
import { failureOf } from './recorded-failure.ts';

type Body = Pick<Exchange, 'chunks' | 'end'> & Partial<Pick<Exchange, 'failure'>>;

interface Watch {
  /** Fires when the call is given up. */
  readonly signal: AbortSignal;
  readonly msSince: () => number;
  /** Told once, however the body ended. */
  readonly onEnd: (body: Body) => void;
}

/** Statuses whose answers have no body. */
const bodiless = new Set([204, 205, 304]);

/** The response as it is, while what passes is noted. */
export function watchBody(response: Response, watch: Watch): Response {
  const { status, statusText, headers } = response;
  if (!response.body || bodiless.has(status)) {
    watch.onEnd({ chunks: [], end: 'whole' });
    return response;
  }
  return new Response(watched(response.body, watch), { status, statusText, headers });
}

function watched(body: ReadableStream<Uint8Array>, { signal, msSince, onEnd }: Watch): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  // a mark of the byte order is a part of what came
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const chunks: Exchange['chunks'] = [];
  let ended = false;
  const note = (text: string) => {
    if (text !== '') chunks.push([msSince(), text]);
  };
  const end = (how: Exchange['end'], error?: unknown) => {
    if (ended) return;
    ended = true;
    note(decoder.decode());
    onEnd({ chunks, end: how, ...(error !== undefined && { failure: failureOf(error) }) });
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            end('whole');
            controller.close();
            return;
          }
          note(decoder.decode(value, { stream: true }));
          controller.enqueue(value);
        } catch (error) {
          if (signal.aborted) end('aborted', signal.reason);
          else end('cut', error);
          throw error;
        }
      },
      cancel(reason) {
        if (signal.aborted) end('aborted', signal.reason);
        else end('left');
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
