/** One thing that goes wrong with requests that match, `times` times. */
export interface Fault {
  readonly method?: string;
  /** Tested against the path without the server's address, e.g. `/team/shop/-/issues/1/comments`. */
  readonly path: RegExp;
  readonly kind:
    | 'rate_limit'
    | 'error'
    | 'html'
    | 'slow'
    /** The connection ends before anything was done. */
    | 'drop'
    /** The connection ends after the write was applied. */
    | 'drop_after'
    /** Like `drop_after`, with a 500 for an answer. */
    | 'error_after'
    | 'forbidden'
    /** `page` is ignored: every page is the first. */
    | 'same_page';
  /** Default 1. */
  readonly times?: number;
  /** Seconds, for `rate_limit`; default 1. */
  readonly retryAfter?: number;
  /** For `slow`, ms; default 1000. */
  readonly delayMs?: number;
}

export interface Faults {
  add(fault: Fault): void;
  /** The fault that this request meets, counted down. */
  take(method: string, path: string): Fault | undefined;
}

export function createFaults(): Faults {
  const waiting: { readonly fault: Fault; left: number }[] = [];
  return {
    add(fault) {
      waiting.push({ fault, left: fault.times ?? 1 });
    },
    take(method, path) {
      const found = waiting.find(
        ({ fault, left }) =>
          left > 0 && (fault.method === undefined || fault.method === method) && fault.path.test(path),
      );
      if (found) found.left -= 1;
      return found?.fault;
    },
  };
}
