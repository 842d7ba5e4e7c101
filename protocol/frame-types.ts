import type { FrameType } from './frames.ts';

/** The names alone, for whoever has no use for the schemas and the memory that they take; the compiler keeps both lists the same. */
const names: Readonly<Record<FrameType, true>> = {
  hello: true,
  welcome: true,
  ping: true,
  pong: true,
  route: true,
  accepted: true,
  error: true,
  watch: true,
  event: true,
  ack: true,
  register_task: true,
  'task.assign': true,
  'task.accept': true,
  'task.decline': true,
  'task.progress': true,
  lease: true,
  'task.input': true,
  'task.answer': true,
  'task.result': true,
  'task.release': true,
  'task.status': true,
  'task.event': true,
  'task.cancel': true,
  bye: true,
  who: true,
  tasks: true,
  log: true,
};

/** Whether frames of this type exist. */
export function isFrameType(type: string): type is FrameType {
  return Object.hasOwn(names, type);
}

/** What is logged and never sent: a late result, and what the hub says of itself. */
const logOnly: ReadonlySet<string> = new Set(['stale_result', 'hub.started', 'hub.stopped']);

/**
 * Whether a message of the log may have this type: that of a frame, or one that is logged only. Any other one can only be the
 * type of the event in a `task.event`.
 */
export function isLoggedType(type: string): boolean {
  return logOnly.has(type) || isFrameType(type);
}

/** All of these. */
export const loggedTypes: readonly string[] = [...Object.keys(names), ...logOnly];
