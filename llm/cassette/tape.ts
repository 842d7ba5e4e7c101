import type { Caller } from '../caller.ts';
import type { ChatBody } from '../chat-body.ts';
import type { Carrier } from '../upstream/proxy.ts';

/** A request as it was meant, and by whom: what a tape knows it by. It travels beside what is sent. */
export interface TapedRequest {
  readonly body: ChatBody;
  readonly caller: Caller & { readonly turn: number };
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Told when the answer comes from the response cache. */
  readonly onCached?: (() => void) | undefined;
}

/** What stands at the door to the network: it keeps what passes, or answers instead. */
export interface Tape {
  /** Nobody is asked, so that no wait makes sense. */
  readonly replays: boolean;
  /** The carrier of an endpoint with the tape in front. */
  carry(carrier: Carrier, host: string): Carrier;
  /** Everything is written, and what is to be said at the end is said. */
  close(): Promise<void>;
}

const taped = Symbol('taped');

/** An addition to the options of `fetch`, by which the tape gets its request. */
export function withTaped(request: TapedRequest): object {
  return { [taped]: request };
}

/** What {@link withTaped} added; undefined where nothing was. */
export function tapedIn(init: object | undefined): TapedRequest | undefined {
  return (init as { [taped]?: TapedRequest } | undefined)?.[taped];
}
