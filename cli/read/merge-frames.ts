import type { Envelope } from '../../protocol/index.ts';

/** The frames of several pieces of one log in the order of the log, or with `newestFirst` against it, each once. */
export async function* mergeFrames(
  pieces: readonly AsyncIterable<Envelope>[],
  newestFirst = false,
): AsyncGenerator<Envelope> {
  const sign = newestFirst ? -1 : 1;
  const opened = pieces.map((piece) => piece[Symbol.asyncIterator]());
  try {
    const heads = await Promise.all(opened.map(async (frames) => ({ frames, next: await frames.next() })));
    let position: number | undefined;
    for (;;) {
      const left = heads.filter(({ next }) => !next.done);
      const [first, ...others] = left;
      if (first === undefined) return;
      const head = others.reduce((one, other) => (sign * (lsnOf(other) - lsnOf(one)) < 0 ? other : one), first);
      const frame = head.next.value as Envelope;
      if (frame.lsn === undefined || frame.lsn !== position) yield frame;
      position = frame.lsn;
      head.next = await head.frames.next();
    }
  } finally {
    await Promise.all(opened.map((frames) => frames.return?.()));
  }
}

function lsnOf({ next }: { readonly next: IteratorResult<Envelope> }): number {
  return (next.value as Envelope).lsn ?? 0;
}
