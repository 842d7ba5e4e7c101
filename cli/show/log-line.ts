import type { Envelope } from '../../protocol/index.ts';
import { clip, plain } from './width.ts';

/** One logged frame for people: time, from → to, type, task, and the payload's gist. */
export function logLine(frame: Envelope, columns = 160): string {
  const time = frame.ts === undefined ? '--:--:--.---' : clock(new Date(frame.ts));
  const again = frame.attempt !== undefined && frame.attempt > 1 ? `#${frame.attempt}` : '';
  const parts = [time, `${frame.from} → ${frame.to}`, frame.type, `${frame.task_id}${again}`, ...gist(frame)];
  return clip(parts.map(plain).filter(Boolean).join('  '), columns);
}

/** Type of the event inside a `task.event`. */
export function eventTypeOf(frame: Envelope): string | undefined {
  const type = asObject(asObject(frame.payload)?.event)?.type;
  return typeof type === 'string' ? type : undefined;
}

/** What a frame's payload comes to, in words: one piece, or an event's type and its fields. */
export function gist(frame: Envelope): string[] {
  const payload = asObject(frame.payload);
  if (!payload) return frame.payload === undefined || frame.payload === null ? [] : [String(frame.payload)];
  const event = asObject(payload.event);
  if (event) return [String(event.type), gistOfEvent(event)];
  for (const key of ['summary', 'goal', 'question', 'text', 'reason', 'note', 'message']) {
    if (typeof payload[key] === 'string' && payload[key] !== '') return [`${stateOf(payload)}${payload[key]}`];
  }
  return [JSON.stringify(payload)];
}

function gistOfEvent(event: Record<string, unknown>): string {
  const turn = asObject(event.content);
  if (event.type === 'turn.added' && turn) {
    const calls = Array.isArray(turn.calls) ? turn.calls.map((call) => asObject(call)?.name).join(', ') : '';
    return `${turn.role}${calls ? ` calls ${calls}` : ''}: ${turn.content}`;
  }
  const { type: _, ...rest } = event;
  return Object.entries(rest)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

function stateOf(payload: Record<string, unknown>): string {
  const state = payload.sub_state ?? payload.status;
  return typeof state === 'string' ? `${state}: ` : '';
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function clock(date: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${time}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
