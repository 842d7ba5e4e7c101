/** What `work` comes to, or the signal's reason as soon as it is aborted, even when `work` does not listen. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Maps in order, with at most `limit` items at work at the same time. The first failure is the whole's. */
export async function inParallel<A, B>(
  items: readonly A[],
  limit: number,
  work: (item: A) => Promise<B>,
): Promise<B[]> {
  const results: B[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
