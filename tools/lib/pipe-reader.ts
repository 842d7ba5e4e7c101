import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { findProcesses, type ProcessMark } from '../../base/process-tree.ts';
import { lineDecoder } from './line-decoder.ts';

/** One of a command's output pipes while it is read. */
export interface Pipe {
  readonly stream: Readable;
  ended(): boolean;
  /** When the last byte came, ms of the monotonic clock. */
  last(): number;
  /** Hands on what waits for the end of its line. */
  flush(): void;
  /** Stops reading and gives the stream back. */
  release(): Socket;
}

/** Reads a pipe; `onText` gets its complete lines, or nothing while one is under way. */
export function readPipe(stream: Readable, onText: (text: string) => void): Pipe {
  const decoder = lineDecoder();
  let ended = false;
  let last = performance.now();
  const onData = (chunk: Buffer) => {
    last = performance.now();
    onText(decoder.push(chunk));
  };
  stream.on('data', onData);
  stream.once('close', () => {
    ended = true;
  });
  // A reset by a dying holder is an end like any other.
  stream.on('error', () => {});
  return {
    stream,
    ended: () => ended,
    last: () => last,
    flush() {
      const rest = decoder.end();
      if (rest !== '') onText(rest);
    },
    release() {
      stream.off('data', onData);
      return stream as Socket;
    },
  };
}

/**
 * After the exit, reads what is still in the pipes. Without a living holder they close by themselves, however busy the
 * machine is; with one, 100 ms without output are enough, and a noisy one gets no more than half a second. Nor does a holder
 * that cannot be seen get more than two.
 */
export async function drain(pipes: readonly Pipe[], mark: ProcessMark): Promise<void> {
  const start = performance.now();
  while (!pipes.every((pipe) => pipe.ended())) {
    await new Promise((resolve) => setTimeout(() => setImmediate(resolve), 10));
    const now = performance.now();
    const quiet = now - Math.max(start, ...pipes.map((pipe) => pipe.last()));
    if (quiet < 100 && now - start < 500) continue;
    // A flood would starve the search.
    for (const pipe of pipes) pipe.stream.pause();
    if (now - start > 2000 || (await findProcesses(mark)).length > 0) return;
    for (const pipe of pipes) pipe.stream.resume();
  }
}
