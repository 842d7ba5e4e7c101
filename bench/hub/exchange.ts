import { quantile } from '../statistics.ts';
import type { Link } from './links/link.ts';

/** Most frames of a flood that are sent and not yet received, and bytes in the sender's buffer. */
const OUTSTANDING = 2_048;
const BUFFERED = 1024 * 1024;

/** What one flood came to. */
export interface FloodFigures {
  readonly messages: number;
  readonly seconds: number;
}

/** What one echo came to; round trips in ms. */
export interface EchoFigures extends FloodFigures {
  readonly p50: number;
  readonly p99: number;
}

/** Sends `frames` from `a` to `b` as fast as they are taken. */
export async function flood(a: Link, b: Link, frames: number): Promise<FloodFigures> {
  let sent = 0;
  let received = 0;
  const seconds = await untilDone(a, b, (done) => {
    const pump = () => {
      while (sent < frames && sent - received < OUTSTANDING && a.buffered < BUFFERED) {
        sent += 1;
        a.send();
      }
    };
    b.onMessage = () => {
      received += 1;
      if (received === frames) done();
      else pump();
    };
    pump();
  });
  return { messages: frames, seconds };
}

/** Keeps `window` frames of `a` under way for `ms`, each answered by `b` with one of its own. */
export async function echo(a: Link, b: Link, { window, ms }: { window: number; ms: number }): Promise<EchoFigures> {
  const starts: number[] = [];
  const trips: number[] = [];
  let first = 0;
  const seconds = await untilDone(a, b, (done) => {
    const end = performance.now() + ms;
    const send = () => {
      starts.push(performance.now());
      a.send();
    };
    b.onMessage = () => b.send();
    a.onMessage = () => {
      const now = performance.now();
      trips.push(now - (starts[first] as number));
      first += 1;
      if (now < end) send();
      else if (first === starts.length) done();
    };
    for (let count = 0; count < window; count += 1) send();
  });
  return { messages: trips.length * 2, seconds, p50: quantile(trips, 0.5), p99: quantile(trips, 0.99) };
}

/** Runs an exchange until it calls `done`; returns how many seconds it took. */
function untilDone(a: Link, b: Link, start: (done: () => void) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    a.onFault = reject;
    b.onFault = reject;
    start(() => {
      const seconds = (performance.now() - begun) / 1000;
      a.settle();
      b.settle();
      resolve(seconds);
    });
  });
}
