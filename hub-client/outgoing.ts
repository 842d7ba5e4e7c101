import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import { type FrameType, type frames, PROTOCOL_VERSION } from '../protocol/index.ts';

type PayloadOf<T extends FrameType> = z.input<(typeof frames)[T]>['payload'];

/** A frame to send. The client adds `v`, `from` and, where they are missing, `id`, `task_id` (`""`) and `payload` (`{}`). */
export interface Outgoing<T extends FrameType = FrameType> {
  readonly type: T;
  /** `name`, `role:R`, `role:R/*`, `*` or `hub`. */
  readonly to: string;
  readonly task_id?: string;
  readonly payload?: PayloadOf<T>;
  /** Id of the frame that this one answers. */
  readonly ref?: string;
  readonly attempt?: number;
  /** Idempotency key; the hub takes a frame with a known one for a repeat. */
  readonly id?: string;
  /** Not sent again after a lost connection: the promise then rejects with `disconnected`. For what is worthless when late. */
  readonly once?: boolean;
}

/** A frame as it goes out, complete. */
export interface WireFrame {
  readonly v: typeof PROTOCOL_VERSION;
  readonly id: string;
  readonly type: FrameType;
  readonly from: string;
  readonly to: string;
  readonly task_id: string;
  readonly payload: unknown;
  readonly ref?: string;
  readonly attempt?: number;
}

/** Fills in what {@link Outgoing} may leave out. */
export function completeFrame(frame: Outgoing, from: string): WireFrame {
  return {
    v: PROTOCOL_VERSION,
    id: frame.id ?? uuid(),
    type: frame.type,
    from,
    to: frame.to,
    task_id: frame.task_id ?? '',
    payload: frame.payload ?? {},
    ...(frame.ref !== undefined && { ref: frame.ref }),
    ...(frame.attempt !== undefined && { attempt: frame.attempt }),
  };
}
