import OpenAI from 'openai';
import { AppError, messageOf } from '../../base/errors.ts';
import { type Tape, type TapedRequest, withTaped } from '../cassette/tape.ts';
import type { ChatBody } from '../chat-body.ts';
import type { ReplyReader } from '../reader/reply-reader.ts';
import type { Reply } from '../reply.ts';
import { fromWireError } from '../server/wire-error.ts';
import { failureOfStatus, parseJson, UpstreamError } from './errors.ts';
import { HttpFailure, plainFetch } from './plain-fetch.ts';
import { carrierFor, type ProxySettings } from './proxy.ts';
import { waitFrom } from './retry-after.ts';
import { type Timeouts, Watchdog } from './watchdog.ts';

/** One OpenAI-compatible server and the key that belongs to it and to nobody else. */
export interface Endpoint {
  /** Where it is, without a slash at the end. */
  readonly baseURL: string;
  /** Host and port, for messages. */
  readonly host: string;
  /** True when the server runs on this machine. */
  readonly loopback: boolean;
  readonly hasKey: boolean;
  /** Whether its calls are paid for with a platform's credits. */
  readonly onCredits: boolean;
  /**
   * Sends one request, once, and feeds the answer to `reader`. Rejects with {@link UpstreamError} or the signal's reason.
   * `onAlive` is told of every sign of life.
   */
  send(body: ChatBody, options: SendOptions): Promise<Reply>;
  /** Ends the connections that were kept open. */
  close(): Promise<void>;
}

interface SendOptions {
  readonly reader: ReplyReader;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onAlive?: () => void;
  /** The request as a tape knows it; without a tape it does not matter. */
  readonly taped?: Omit<TapedRequest, 'signal'>;
  /** Told of the headers of an answer, whatever its status. */
  readonly onHeaders?: (headers: Headers) => void;
}

/** Opens an endpoint; nothing is sent yet. Throws AppError `misconfigured` on a base URL or key that is none. */
export function openEndpoint(options: {
  baseURL: string;
  apiKey: string;
  timeouts: Timeouts;
  /** A gateway of ours, whose errors keep their kind. Default false. */
  ours?: boolean;
  /** Its calls are paid for with a platform's credits. Default false. */
  onCredits?: boolean | undefined;
  /** Default: none. */
  proxies?: ProxySettings | undefined;
  /** Records what passes, or answers instead. Default: none. */
  tape?: Tape | undefined;
}): Endpoint {
  const { timeouts, ours = false, onCredits = false } = options;
  const apiKey = parseKey(options.apiKey);
  const address = parseAddress(options.baseURL);
  // some have their key in the address
  const keys = [apiKey, ...address.searchParams.values()].filter((value) => value.length >= 8);
  const mask = (text: string) => keys.reduce((masked, key) => masked.replaceAll(key, '***'), text);
  const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(address.hostname);
  const network = carrierFor(loopback, options.proxies);
  const carrier = options.tape?.carry(network, address.host) ?? network;
  const baseURL = `${address.origin}${address.pathname}`.replace(/\/+$/, '');
  const client = new OpenAI({
    baseURL,
    // some put a version there
    defaultQuery: Object.fromEntries(address.searchParams),
    // the real one is added where the request leaves
    apiKey: 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    // the watchdog decides; this one only has to be longer
    timeout: 2_147_483_647,
    logLevel: 'off',
    fetch: (url, init) => plainFetch(url, init, { apiKey, send: carrier.fetch }),
  });

  return {
    baseURL,
    host: address.host,
    loopback,
    hasKey: apiKey !== '',
    onCredits,
    async send(body, { reader, signal, headers = {}, taped, onAlive, onHeaders }) {
      const watchdog = new Watchdog(timeouts, signal);
      try {
        const fetchOptions = taped && withTaped({ ...taped, signal: watchdog.signal });
        const sent = client.chat.completions.create(body as never, {
          ...{ headers, signal: watchdog.signal },
          ...(fetchOptions && { fetchOptions }),
        });
        const response = await sent.asResponse();
        onHeaders?.(response.headers);
        return await readReply(response, reader, watchdog, onAlive);
      } catch (thrown) {
        if (watchdog.signal.aborted) throw watchdog.signal.reason;
        const error = causeOf(thrown);
        if (error instanceof HttpFailure) onHeaders?.(error.headers);
        throw maskFailure(toFailure(error, ours), mask);
      } finally {
        watchdog.stop();
      }
    },
    close: () => carrier.close(),
  };
}

async function readReply(
  response: Response,
  reader: ReplyReader,
  watchdog: Watchdog,
  onAlive: (() => void) | undefined,
): Promise<Reply> {
  const stream = response.body?.getReader();
  // some never close a stream that is finished
  const over = () => void stream?.cancel().catch(ignoreClosed);
  watchdog.over.addEventListener('abort', over, { once: true });
  try {
    while (stream && !reader.done) {
      const { done, value } = await stream.read();
      if (done) break;
      const event = reader.push(value);
      watchdog.heard(event);
      if (event) watchdog.looksFinished(reader.finished);
      onAlive?.();
    }
    return reader.end();
  } finally {
    // not awaited: a server that keeps the connection open must not hold the reply up
    stream?.cancel().catch(ignoreClosed);
  }
}

/** A stream that already failed cannot be cancelled, which is what was wanted. */
function ignoreClosed(): void {}

/** What was thrown, without what the SDK put around it. */
function causeOf(thrown: unknown): unknown {
  return thrown instanceof OpenAI.APIConnectionError && thrown.cause instanceof Error ? thrown.cause : thrown;
}

function toFailure(error: unknown, ours: boolean): unknown {
  if (error instanceof HttpFailure) {
    return (ours ? fromWireError(parseJson(error.body)) : undefined) ?? statusFailure(error);
  }
  return isNetworkError(error) || error instanceof OpenAI.APIError ? connectionFailure(error) : error;
}

/** What `fetch` throws when the connection fails; a TypeError without a cause is a fault of the program. */
function isNetworkError(error: unknown): error is TypeError {
  return error instanceof TypeError && error.cause !== undefined;
}

function statusFailure(error: HttpFailure): UpstreamError {
  const shouldRetry = error.headers.get('x-should-retry')?.trim().toLowerCase();
  const location = error.headers.get('location');
  const body = location === null ? error.body : `it redirects to ${location}; use that address as the base URL`;
  const wait = waitFrom(error.headers, Date.now());
  const decided = shouldRetry === 'true' || shouldRetry === 'false';
  return failureOfStatus(error.status, body, wait, decided ? shouldRetry === 'true' : undefined);
}

/** `fetch failed` says nothing; the reason is in the cause. */
function connectionFailure(error: Error): UpstreamError {
  const cause = error.cause as (Error & { code?: string }) | undefined;
  const reason = cause?.code ?? cause?.message ?? messageOf(error);
  if (reason === 'UND_ERR_HEADERS_TIMEOUT') return new UpstreamError('timeout', 'no answer', { cause });
  if (reason === 'UND_ERR_BODY_TIMEOUT') return new UpstreamError('stalled', 'the stream went silent', { cause });
  if (error.message === 'terminated') {
    return new UpstreamError('incomplete', `the connection broke: ${reason}`, { cause });
  }
  const message = `it cannot be reached: ${reason}`;
  // no later try finds another certificate
  if (/CERT|UNABLE_TO_VERIFY/.test(reason)) return new UpstreamError('server', message, { cause, retryable: false });
  return new UpstreamError('server', message, { cause });
}

/** Providers like to repeat the key they reject. */
function maskFailure(error: unknown, mask: (text: string) => string): unknown {
  if (!(error instanceof UpstreamError) || mask(error.message) === error.message) return error;
  const { kind, retryable, waitMs, status, advised } = error;
  return new UpstreamError(kind, mask(error.message), { retryable, waitMs, status, advised });
}

/** The error of a header would hold the key, so look before. */
function parseKey(key: string): string {
  const trimmed = key.trim();
  if (/^[\x21-\x7e]*$/.test(trimmed)) return trimmed;
  throw new AppError('misconfigured', 'The model key holds spaces or characters that no key has; copy it again.');
}

function parseAddress(baseURL: string): URL {
  const address = parseOrNull(baseURL);
  if (address?.username) {
    throw new AppError(
      'misconfigured',
      `The base URL of ${address.host} holds a login; give the key by its own setting.`,
    );
  }
  if (address && /^https?:$/.test(address.protocol)) return address;
  throw new AppError('misconfigured', `"${baseURL}" is no base URL of a model; it looks like https://host/v1`);
}

function parseOrNull(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
