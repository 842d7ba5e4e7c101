import type { Decoded } from './decode.ts';
import { resultOf, textOf } from './level-zero.ts';
import type { StoredMessage } from './storage.ts';

/** Frames about a task whose target is not the sender's to choose: the hub puts in the owner, or who holds the task. */
const toTheOther: ReadonlySet<string> = new Set([
  'task.accept',
  'task.decline',
  'task.progress',
  'task.input',
  'task.result',
  'task.release',
  'task.answer',
  'task.cancel',
]);

/** Of these the hub says itself which attempt they are about. */
const ofTheAttempt: ReadonlySet<string> = new Set(['task.answer', 'task.cancel']);

/** What the hub may have made of a `route` in a task, by the type it is logged with: what its payload is then. */
const translations: Readonly<Record<string, (payload: unknown) => unknown>> = {
  'task.result': resultOf,
  stale_result: resultOf,
  'task.answer': (payload) => ({ text: textOf(payload) }),
};

/**
 * Whether the frame that came now is the one that its sender had logged under the same id. All that the sender says counts:
 * type, target, task, attempt, ref and payload; but for what the hub put in place of it. `by` is the sender's level, and whether the logged frame gave a task to somebody.
 */
export function isRepeat(
  logged: StoredMessage,
  { frame, raw }: Decoded,
  by: { readonly level: 0 | 1; readonly assigned: boolean },
): boolean {
  const first = JSON.parse(logged.body.toString()) as Record<string, unknown>;
  const payload = raw.payload ?? null;
  // The hub says which question an answer is for, when it does not.
  const isRefAdded = logged.type === 'task.answer' && frame.ref === undefined;
  if (first.task_id !== frame.task_id || (first.ref !== frame.ref && !isRefAdded)) return false;
  if (frame.type === 'route' && frame.task_id !== '' && by.level === 0) {
    const translate = translations[logged.type];
    if (translate !== undefined) return isEqual(first.payload, translate(payload));
    // Logged as it came, but for the target and the attempt of a result.
    if (logged.type === 'route' && logged.attempt !== null && resultOf(payload) !== undefined) {
      return isEqual(first.payload, payload);
    }
  }
  const type = logged.type === 'stale_result' ? 'task.result' : logged.type;
  return (
    type === frame.type &&
    (first.to === frame.to || toTheOther.has(type)) &&
    (first.attempt === frame.attempt || ofTheAttempt.has(type) || (type === 'route' && by.assigned)) &&
    isEqual(first.payload, payload)
  );
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
