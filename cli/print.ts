import { stderr, stdout } from 'node:process';
import { dimFor } from './show/dim.ts';
import { plain } from './show/width.ts';

/** Writes one line of a command's result to stdout; waits while the reader is slow. A reader that went away (`| head`) is no fault. */
export async function print(line: string): Promise<void> {
  if (stdout.destroyed || stdout.write(`${line}\n`)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      stdout.off('drain', done);
      stdout.off('close', done);
      resolve();
    };
    stdout.on('drain', done);
    stdout.on('close', done);
  });
}

/** Writes one line for people to stderr. */
export function say(line: string): void {
  stderr.write(`${line}\n`);
}

/** Writes one line of what a model thinks to stderr, dim. */
export function think(line: string): void {
  stderr.write(`${dimFor(stderr)(plain(line))}\n`);
}

/** Aborted once nobody reads stdout any more. */
export function readerGone(): AbortSignal {
  const controller = new AbortController();
  if (stdout.destroyed) controller.abort();
  else stdout.once('close', () => controller.abort());
  return controller.signal;
}
