import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { backoff, type Clock, sleep } from '../base/time.ts';
import type { Frame, FrameOf } from '../protocol/index.ts';
import { type Connection, type Ending, openConnection } from './connection.ts';
import type { ReconnectOptions } from './hub-client.ts';
import type { WireFrame } from './outgoing.ts';
import { noHubWords, refusedWords } from './words.ts';

export interface LinkOptions {
  readonly address: URL;
  readonly token: string | undefined;
  readonly reconnect: ReconnectOptions;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes the `hello` of the next connection. */
  readonly hello: () => WireFrame;
  readonly onWelcome: (welcome: FrameOf<'welcome'>, connection: Connection) => void;
  readonly onFrame: (frame: Frame) => void;
  readonly onUnreadable: (seq: number) => void;
  /** A connection that had been welcomed is gone. */
  readonly onLost: () => void;
}

const BASE_MS = 500;
const CAP_MS = 15_000;
const CONNECT_MS = 10_000;

/** One connection after the other, until it is closed, the hub says that coming back is of no use, or time is up. */
export class Link {
  /** Resolves at the first welcome; rejects when there is none. */
  readonly first: Promise<void>;
  /** Resolves, with the reason, when there will be no further connection; never rejects. */
  readonly over: Promise<AppError>;
  readonly #options: LinkOptions;
  readonly #ending = new AbortController();
  #connection: Connection | undefined;
  #welcomed = false;
  #heardAt: number;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#heardAt = options.clock.monotonic();
    let welcome = (): void => {};
    const first = new Promise<void>((resolve) => {
      welcome = resolve;
    });
    this.over = this.#stay(welcome);
    this.first = Promise.race([
      first,
      this.over.then((reason) => {
        throw reason;
      }),
    ]);
    this.first.catch(() => {}); // the caller may look at `over` alone
  }

  /** Milliseconds since the hub was last heard. */
  get silentFor(): number {
    return this.#options.clock.monotonic() - Math.max(this.#heardAt, this.#connection?.heardAt ?? this.#heardAt);
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#connection?.close();
    await this.over;
  }

  async #stay(welcome: () => void): Promise<AppError> {
    const { clock, log, reconnect, address } = this.#options;
    const { baseMs = BASE_MS, capMs = CAP_MS, connectMs = CONNECT_MS, giveUpMs = Number.POSITIVE_INFINITY } = reconnect;
    let failures = 0;
    let aloneSince = clock.monotonic();
    while (!this.#ending.signal.aborted) {
      const { ending, lastedMs } = await this.#connectOnce(welcome);
      if (this.#ending.signal.aborted) break;
      if (ending.final) return refused(address, ending, this.#options.token !== undefined);
      if (lastedMs > 0) aloneSince = clock.monotonic();
      if (lastedMs >= capMs) failures = 0;
      // full jitter, on top of the pause that the hub asked for
      const wait = ending.retryAfterMs + backoff(failures, { baseMs, capMs });
      failures += 1;
      const patience = this.#welcomed ? giveUpMs : connectMs;
      if (clock.monotonic() - aloneSince + wait > patience) return unreachable(address, ending);
      log.info({ code: ending.code, reason: ending.message, waitMs: Math.round(wait) }, 'no hub, will try again');
      await sleep(wait, this.#ending.signal).catch(() => {}); // closed meanwhile; the loop looks
    }
    return new AppError('disconnected', 'The connection to the hub was closed by this side.');
  }

  async #connectOnce(welcome: () => void): Promise<{ ending: Ending; lastedMs: number }> {
    const { clock, onWelcome, onLost } = this.#options;
    let since: number | undefined;
    const connection = openConnection({
      ...this.#options,
      url: this.#options.address,
      hello: this.#options.hello(),
      onWelcome: (frame) => {
        since = clock.monotonic();
        this.#welcomed = true;
        onWelcome(frame, connection);
        welcome();
      },
    });
    this.#connection = connection;
    const ending = await connection.ended;
    this.#connection = undefined;
    this.#heardAt = Math.max(this.#heardAt, connection.heardAt);
    if (since === undefined) return { ending, lastedMs: 0 };
    onLost();
    return { ending, lastedMs: clock.monotonic() - since };
  }
}

function refused({ host }: URL, { code, message }: Ending, hasToken: boolean): AppError {
  const details = { code, said: message };
  return new AppError('refused', refusedWords(host, message, { status: code, hasToken }), { details });
}

function unreachable({ host }: URL, { code, message }: Ending): AppError {
  return new AppError('disconnected', noHubWords(host, message), { details: { code } });
}
