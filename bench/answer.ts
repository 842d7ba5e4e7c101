import type { Handlers } from './children.ts';

/** The settings that this process was started with. */
export function settings<T>(): T {
  return JSON.parse(process.argv[2] ?? 'null') as T;
}

/** Answers the bench's questions until it lets go of this process, or is gone; then `close` runs and the process ends. */
export function answer(handlers: Handlers, close: () => Promise<void> | void): void {
  process.on('message', (message) => {
    const { id, kind, argument } = message as { id: number; kind: string; argument: never };
    const handle = handlers[kind] ?? (() => undefined);
    Promise.resolve()
      .then(() => handle(argument))
      .then(
        (value) => process.send?.({ id, value }),
        (error: unknown) =>
          process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
      );
  });
  // Ctrl-C reaches the whole group; the bench itself decides when this process ends.
  process.on('SIGINT', () => undefined);
  process.on('disconnect', () => {
    Promise.resolve(close()).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
