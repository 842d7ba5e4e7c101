import type { IncomingMessage } from 'node:http';
import WebSocket, { type RawData } from 'ws';
import { z } from 'zod';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import { envelope, type Frame, type FrameOf, frames, isFrameType, mayReconnect } from '../protocol/index.ts';
import type { WireFrame } from './outgoing.ts';

/** How a connection ended, or why there was none. */
export interface Ending {
  readonly message: string;
  /** Close code, or HTTP status of a refused upgrade, or 0. */
  readonly code: number;
  /** Trying again is of no use. */
  readonly final: boolean;
  /** The hub asks for at least this pause. */
  readonly retryAfterMs: number;
}

export interface ConnectionOptions {
  readonly url: URL;
  readonly token: string | undefined;
  readonly hello: WireFrame;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once, before any `onFrame`. */
  readonly onWelcome: (welcome: FrameOf<'welcome'>) => void;
  readonly onFrame: (frame: Frame) => void;
  /** A numbered frame that this client cannot read; it has no use for it, and the hub must not wait for it. */
  readonly onUnreadable: (seq: number) => void;
}

/** One WebSocket to the hub, from the upgrade to its end. */
export interface Connection {
  transmit(text: string): void;
  /** Ends politely; after a second by force. */
  close(): void;
  /** When the hub was last heard on it, by the monotonic clock; minus infinity before it was. */
  readonly heardAt: number;
  /** Never rejects. */
  readonly ended: Promise<Ending>;
}

const HANDSHAKE_MS = 10_000;
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

export function openConnection(options: ConnectionOptions): Connection {
  const { clock, log } = options;
  const socket = new WebSocket(options.url, {
    headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
  });
  let heardAt = Number.NEGATIVE_INFINITY;
  let welcomed = false;
  let complaint: string | undefined;
  let retryAfterMs = 0;
  let guard = clock.after(HANDSHAKE_MS + 1000, () => socket.terminate());

  const watchLife = (pingMs: number, pongMs: number): void => {
    const check = (): void => {
      const silent = clock.monotonic() - heardAt;
      if (silent < pingMs) {
        guard = clock.after(pingMs - silent + 1, check);
        return;
      }
      // asked before it is given up: this process may have been the one that slept
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      guard = clock.after(pongMs, () => {
        if (clock.monotonic() - heardAt < pongMs) return check();
        complaint = `The hub was silent for ${Math.round((clock.monotonic() - heardAt) / 1000)} s.`;
        socket.terminate();
      });
    };
    guard.cancel();
    guard = clock.after(pingMs, check);
  };

  const heard = (): void => {
    heardAt = clock.monotonic();
  };

  const receive = (frame: Frame): void => {
    if (frame.type === 'welcome' && !welcomed) {
      welcomed = true;
      watchLife(frame.payload.ping_ms, frame.payload.pong_ms);
      options.onWelcome(frame);
      return;
    }
    if (frame.type === 'bye') {
      complaint = frame.payload.reason;
      retryAfterMs = frame.payload.retry_after_ms ?? 0;
    }
    if (frame.type === 'error' && !welcomed) complaint = `${frame.payload.message} (${frame.payload.code})`;
    if (welcomed) options.onFrame(frame);
  };

  const take = (data: RawData): void => {
    heard();
    const parsed = parseFrame(String(data));
    if (parsed.ok) {
      receive(parsed.frame);
      return;
    }
    log.warn({ reason: parsed.reason }, 'unreadable frame from the hub');
    if (welcomed && parsed.seq !== undefined) options.onUnreadable(parsed.seq);
  };

  const ended = new Promise<Ending>((resolve) => {
    const end = (code: number, message: string, final: boolean): void => {
      guard.cancel();
      resolve({ code, message, final, retryAfterMs });
    };
    socket.on('open', () => {
      heard();
      socket.send(JSON.stringify(options.hello));
    });
    socket.on('message', take);
    socket.on('ping', heard);
    socket.on('pong', heard);
    socket.on('error', (error) => {
      complaint ??= messageOf(error);
    });
    socket.on('close', (code, reason) => {
      const said = reason.toString();
      end(code, complaint ?? (said || `the connection was closed (${code})`), !mayReconnect(code));
    });
    socket.on('unexpected-response', (request, response) => {
      void refusal(response).then(({ message, retryAfterMs: pause }) => {
        request.destroy();
        retryAfterMs = pause;
        const status = response.statusCode ?? 0;
        end(status, message, status >= 400 && status < 500 && status !== 408 && status !== 429);
      });
    });
  });

  return {
    transmit: (text) => socket.send(text),
    close() {
      socket.close(1000);
      const force = clock.after(1000, () => socket.terminate());
      void ended.then(() => force.cancel());
    },
    get heardAt() {
      return heardAt;
    },
    ended,
  };
}

type Parsed =
  | { readonly ok: true; readonly frame: Frame }
  | { readonly ok: false; readonly reason: string; readonly seq?: number | undefined };

function parseFrame(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
  const general = envelope.safeParse(value);
  if (!general.success) return { ok: false, reason: z.prettifyError(general.error) };
  const { type, seq } = general.data;
  if (!isFrameType(type)) return { ok: false, reason: `unknown type ${type}`, seq };
  const parsed = frames[type].safeParse(value);
  if (!parsed.success) return { ok: false, reason: `${type}: ${z.prettifyError(parsed.error)}`, seq };
  return { ok: true, frame: parsed.data as Frame };
}

const RefusalBody = z.object({ error: z.object({ message: z.string() }) });

/** What the hub says in the JSON body of a refused upgrade. */
async function refusal(response: IncomingMessage): Promise<{ message: string; retryAfterMs: number }> {
  const seconds = Number(response.headers['retry-after']);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : 0;
  const fallback = `the hub answered HTTP ${response.statusCode}`;
  try {
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) body += chunk;
    return { message: RefusalBody.parse(JSON.parse(body)).error.message, retryAfterMs };
  } catch {
    return { message: fallback, retryAfterMs }; // no JSON: something else than a hub listens there
  }
}
