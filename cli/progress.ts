/** A line on stderr that tells people at a terminal, once a second, how far something is that takes longer than that. */
export interface Progress {
  /** Takes the line away, for something else to be written; it comes again while the work goes on. */
  clear(): void;
  end(): void;
}

/** Shows `text()` every `everyMs` until the end; nothing where `stderr` is no terminal. */
export function showProgress(
  text: () => string,
  everyMs = 1000,
  stderr: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Progress {
  if (!stderr.isTTY) return { clear: () => {}, end: () => {} };
  let shown = false;
  const clear = () => {
    if (shown) stderr.write('\r\u001b[K');
    shown = false;
  };
  const timer = setInterval(() => {
    shown = true;
    stderr.write(`\r\u001b[K${text()} …`);
  }, everyMs);
  return {
    clear,
    end() {
      clearInterval(timer);
      clear();
    },
  };
}
