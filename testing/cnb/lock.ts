/** How a pipeline's lock behaves; times in ms. */
export interface LockOptions {
  /** Wait for the holder; otherwise a second build ends at once. */
  readonly wait: boolean;
  /** After this a holder loses the lock although it still works. */
  readonly expiresMs: number;
  /** How long a build waits at most. */
  readonly timeoutMs: number;
}

export interface PipelineLock {
  /** Resolves with a release once the key is free, or with undefined when it is not to be had. First come, first served. */
  acquire(key: string): Promise<(() => void) | undefined>;
}

export function createPipelineLock(options: LockOptions): PipelineLock {
  const queues = new Map<string, { start: () => void }[]>();

  /** Called by the first of the queue; the release works once. */
  function hold(key: string): () => void {
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      clearTimeout(expiry);
      const queue = queues.get(key) ?? [];
      queue.shift();
      if (queue.length === 0) queues.delete(key);
      queue[0]?.start();
    };
    const expiry = setTimeout(release, options.expiresMs);
    expiry.unref();
    return release;
  }

  return {
    acquire(key) {
      const queue = queues.get(key) ?? [];
      queues.set(key, queue);
      if (queue.length === 0) {
        queue.push({ start: () => undefined });
        return Promise.resolve(hold(key));
      }
      if (!options.wait) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const entry = {
          start(): void {
            clearTimeout(giveUp);
            resolve(hold(key));
          },
        };
        const giveUp = setTimeout(() => {
          queue.splice(queue.indexOf(entry), 1);
          resolve(undefined);
        }, options.timeoutMs);
        giveUp.unref();
        queue.push(entry);
      });
    },
  };
}
