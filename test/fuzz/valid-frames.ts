import { type FrameType, frames } from '../../protocol/index.ts';
import type { Random } from '../helpers/random.ts';

/** Names of the peers that fuzz. */
export const peers = ['fuzz-1', 'fuzz-2', 'fuzz-3', 'fuzz-4', 'fuzz-5', 'fuzz-6'] as const;

/** All types, but that frames which end a connection, or have a long answer, are rarer. */
const types: readonly FrameType[] = (Object.keys(frames) as FrameType[]).flatMap((type) =>
  ['bye', 'hello', 'watch', 'log', 'tasks', 'who'].includes(type) ? [type] : Array.from({ length: 6 }, () => type),
);

/** A frame that the hub's schema takes, of any type, also of those that only the hub may send. */
export function validFrame(random: Random, self: string, number: number): Record<string, unknown> {
  const type = random.chance(0.3) ? 'route' : random.pick(types);
  return {
    type,
    from: random.chance(0.9) ? self : random.pick(peers),
    to: targetOf(type, random),
    task_id: type === 'route' && random.chance(0.7) ? '' : `task-${random.int(200)}`,
    payload: payloadOf(type, random),
    id: `${self}.${number}`,
    ...(random.chance(0.6) && { attempt: random.between(1, 3) }),
    ...(random.chance(0.1) && { meta: { traceparent: '00-1-2-01' } }),
    ...(random.chance(0.1) && { ref: `${random.pick(peers)}.${random.int(1000)}` }),
    ...(random.chance(0.2) && { v: 1 }),
  };
}

function targetOf(type: FrameType, random: Random): string {
  if (type !== 'route' && type !== 'task.assign') return 'hub';
  return random.pick([...peers, ...peers, 'nobody', 'role:coder', 'role:coder/*', '*', 'hub']);
}

function payloadOf(type: FrameType, random: Random): unknown {
  const text = random.pick(['', 'go on', 'ü€𝄞', '\u0000\u001f', '"\\', '</script>', 'x'.repeat(random.int(2000))]);
  switch (type) {
    case 'hello':
      return { v: 1, roles: random.chance(0.5) ? ['coder'] : [], max_concurrency: random.between(1, 4) };
    case 'ack':
      return random.chance(0.7) ? { seq: random.int(100_000) } : { ids: [`${random.pick(peers)}.${random.int(1000)}`] };
    case 'task.assign':
      return {
        goal: text === '' ? 'g' : text,
        artifacts: [],
        constraints: [],
        options: {
          priority: random.int(5),
          silence_timeout_ms: random.int(10_000),
          max_attempts: random.between(1, 10),
        },
      };
    case 'task.decline':
    case 'task.cancel':
      return { reason: text };
    case 'task.progress':
      return { pct: random.int(100), note: text, ...(random.chance(0.5) && { checkpoint: { text } }) };
    case 'task.input':
      return { question: text === '' ? '?' : text };
    case 'task.answer':
      return { text };
    case 'task.result':
      return { status: random.pick(['success', 'failed']), summary: text, artifacts: [], issues: [] };
    case 'task.event':
      return { event: { type: 'noted', text } };
    case 'log':
      return { after_lsn: random.int(1000), limit: random.between(1, 20) };
    case 'watch':
      return { type: 'task.status', task_id: `task-${random.int(200)}` };
    case 'task.release':
    case 'bye':
    case 'tasks':
      return {};
    case 'lease':
      return { until: random.int(1e9) };
    case 'accepted':
      return { upto: random.int(10) };
    default:
      return random.pick([null, text, 1, [text], { text, deep: { er: [1, { text }] } }]);
  }
}
