import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import { AppError } from '../base/errors.ts';
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

/** Longest id of a frame; of a longer one the hub's error could not name more than the beginning. */
const LONGEST_ID = 128;

/** Fills in what {@link Outgoing} may leave out. Throws `usage` for an id that is too long. */
export function completeFrame(frame: Outgoing, from: string): WireFrame {
  if (frame.id !== undefined && frame.id.length > LONGEST_ID) {
    throw new AppError('usage', `An id has at most ${LONGEST_ID} characters; this one has ${frame.id.length}.`);
  }
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
