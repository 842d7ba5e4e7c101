import { AppError } from '../../base/errors.ts';
import type { ClientState, HubClient } from '../../hub-client/index.ts';
import type { Envelope } from '../../protocol/index.ts';
import { say } from '../print.ts';

/** Frames that are kept while nobody takes them; what comes beyond that is read from the log later. */
const MOST = 2000;

/**
 * Frames of a hub after a position as they come, over restarts of the hub. Ends when `signal` is aborted and when the hub said
 * goodbye and stays away for `goodbyeMs`; throws `disconnected` when it went without a word and the client gave up.
 */
export async function* followHub(
  client: HubClient,
  afterLsn: number,
  signal: AbortSignal,
  goodbyeMs = 3000,
): AsyncGenerator<Envelope> {
  const feed = new Feed(afterLsn, goodbyeMs);
  const closing = [
    client.on('event', ({ payload }) => feed.add(payload.frame)),
    client.on('bye', () => feed.goodbye()),
    client.onState((state) => feed.heard(state)),
  ];
  signal.addEventListener('abort', feed.wake, { once: true });
  try {
    await client.watch({ after_lsn: afterLsn });
    while (!signal.aborted) {
      const frame = feed.next();
      if (frame) yield frame;
      else if (feed.fellBehind()) {
        for await (const missed of client.readLog({ after_lsn: feed.position })) {
          if (signal.aborted) return;
          if (feed.pass(missed)) yield missed;
        }
      } else if (feed.end !== undefined) {
        if (feed.end === 'goodbye') return;
        throw new AppError('disconnected', 'the hub went away without a word and did not come back; is it running?');
      } else await feed.more();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const close of closing) close();
    feed.stop();
  }
}

/** What a watch brings, in order, each frame once. */
class Feed {
  position: number;
  end: 'goodbye' | 'lost' | undefined;
  readonly #goodbyeMs: number;
  #waiting: Envelope[] = [];
  #behind = false;
  #leaving: NodeJS.Timeout | undefined;
  #away = false;
  #wake = () => {};

  constructor(position: number, goodbyeMs: number) {
    this.position = position;
    this.#goodbyeMs = goodbyeMs;
  }

  readonly wake = (): void => this.#wake();

  add(frame: Envelope): void {
    if (this.#behind || this.#waiting.length === MOST) this.#behind = true;
    else this.#waiting.push(frame);
    this.wake();
  }

  next(): Envelope | undefined {
    for (;;) {
      const frame = this.#waiting.shift();
      if (frame === undefined || this.pass(frame)) return frame;
    }
  }

  /** Moves on to a frame; false when it was there before. */
  pass(frame: Envelope): boolean {
    const { lsn = 0 } = frame;
    if (lsn <= this.position) return false;
    this.position = lsn;
    return true;
  }

  /** Whether frames were left out that are to be read from the log; from now on they are kept again. */
  fellBehind(): boolean {
    const behind = this.#behind;
    this.#behind = false;
    return behind;
  }

  goodbye(): void {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => {
      say('npc-crew: the hub said goodbye');
      this.end = 'goodbye';
      this.wake();
    }, this.#goodbyeMs);
  }

  heard(state: ClientState): void {
    if (state === 'connected') {
      clearTimeout(this.#leaving);
      this.#leaving = undefined;
      if (this.#away) say('npc-crew: the hub is back');
      this.#away = false;
    } else if (state === 'lost') {
      // after a goodbye it is told how that ended
      if (!this.#away && this.#leaving === undefined) say('npc-crew: the hub is lost; trying to reach it again');
      this.#away = true;
    } else if (state === 'closed') this.end ??= 'lost';
    else if (state.gap.from === undefined) {
      say(`npc-crew: ${state.gap.reason}`);
      this.position = 0;
      this.#waiting = [];
    }
    this.wake();
  }

  async more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  stop(): void {
    clearTimeout(this.#leaving);
  }
}
