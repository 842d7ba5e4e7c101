import { isUtf8 } from 'node:buffer';
import type { FrameType } from '../../protocol/index.ts';

/** Types that are answered or acted upon, and never logged. */
const unlogged: ReadonlySet<string> = new Set<FrameType>([
  'hello',
  'ping',
  'pong',
  'ack',
  'who',
  'tasks',
  'log',
  'watch',
  'bye',
]);

/** Largest frame that the hub takes. */
const LARGEST = 512 * 1024;

/**
 * What another reader makes of a message: `invalid` breaks the protocol below (the connection ends), `unreadable` is no
 * frame at all, `unlogged` a frame that leaves no row, `loggable` one that leaves a row unless it is refused.
 */
export interface Reading {
  readonly kind: 'invalid' | 'unreadable' | 'unlogged' | 'loggable';
  readonly type?: string;
  readonly id?: string;
  readonly value?: Readonly<Record<string, unknown>>;
}

/** Reads the bytes of a text message as any program would. */
export function readAs(bytes: Buffer): Reading {
  if (!isUtf8(bytes) || bytes.length > 2 * LARGEST) return { kind: 'invalid' };
  if (bytes.length > LARGEST) return { kind: 'unreadable' };
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return { kind: 'unreadable' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { kind: 'unreadable' };
  const { type, id } = value as Record<string, unknown>;
  if (typeof type !== 'string') return { kind: 'unreadable' };
  return {
    kind: unlogged.has(type) ? 'unlogged' : 'loggable',
    type,
    value: value as Record<string, unknown>,
    ...(typeof id === 'string' && { id }),
  };
}

/** Whether an error that names this type is about a frame that could have been logged. */
export function isLoggable(type: string): boolean {
  return !unlogged.has(type);
}
