/** Bytes that are read from the log between two looks at what is left over of them. */
const STEP = 4 * 1024 * 1024;

let read = 0;

/**
 * Counts bytes read from the log. SQLite hands out new memory for each batch, of which V8 lets 32 MB lie before it looks,
 * since it sees 100 bytes where 256 KiB hang on them. Where the process was started with `--expose-gc`, as bin/npc-crew does,
 * it is asked to look at what is young, which takes less than a millisecond.
 */
export function readFromLog(bytes: number): void {
  read += bytes;
  if (read < STEP) return;
  read = 0;
  globalThis.gc?.({ type: 'minor' });
}
