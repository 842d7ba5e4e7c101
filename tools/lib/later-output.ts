import { createWriteStream } from 'node:fs';
import type { Socket } from 'node:net';

/** Bytes that processes left behind may print; then their pipes are closed, which ends the noisy ones. */
const MAX_LATER_BYTES = 8 * 1024 * 1024;

/**
 * Lets what is left behind go on printing into the file at `path` without keeping this process alive, so that a server
 * in the background does not die of a closed pipe. Without a path the pipes are closed. Says whether the file is fed.
 */
export function keepLaterOutput(open: readonly Socket[], path: string | undefined): boolean {
  if (path === undefined || open.length === 0) {
    for (const socket of open) socket.destroy();
    return false;
  }
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  let room = MAX_LATER_BYTES;
  const stop = () => {
    for (const socket of open) socket.destroy();
    file.end();
  };
  // A full disk must not end the agent; the pipes are closed then.
  file.on('error', stop);
  for (const socket of open) {
    socket.unref();
    socket.on('data', (chunk: Buffer) => {
      room -= chunk.length;
      file.write(chunk);
      if (room < 0) stop();
    });
    socket.once('close', () => {
      if (open.every((one) => one.destroyed)) file.end();
    });
    socket.resume();
  }
  return true;
}
