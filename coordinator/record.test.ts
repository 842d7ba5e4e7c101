import { expect, test } from 'vitest';
import type { Envelope } from '../protocol/index.ts';
import { emptyRecord, foldFrame } from './record.ts';

const key = '0011aabbccddeeff';
const trusted = ['coordinator', 'gateway'];
const frame = (from: string, event: object, taskId = key): Envelope => ({
  type: 'task.event',
  from,
  to: 'hub',
  task_id: taskId,
  payload: { event },
});
const gate = { id: 'gate-1', command: 'npm test', kind: 'test', sha: 'a'.repeat(40), exit: 0, ms: 1, tail: '' };

test('R-RUN-9: a gate that an agent claims does not count', () => {
  const record = emptyRecord();
  foldFrame(record, frame('coder-1', { type: 'gate.finished', gate }), trusted);
  expect(record.gates).toEqual([]);
  foldFrame(record, frame('coordinator', { type: 'gate.finished', gate }), trusted);
  expect(record.gates).toHaveLength(1);
});

test("R-RUN-9: an agent's comment is kept as its own words, and its tool calls are counted", () => {
  const record = emptyRecord();
  foldFrame(record, frame('coder-1', { type: 'comment.asked', kind: 'note', body: '改好了' }, `${key}.code`), trusted);
  const call = { type: 'tool.finished', call_id: '1', name: 'bash', args_hash: '', ok: false, result_hash: '', ms: 3 };
  foldFrame(record, frame('coder-1', { ...call, origin: 'native' }), trusted);
  foldFrame(record, frame('coder-1', { ...call, origin: 'rescued', ok: true }), trusted);
  expect(record.notes).toEqual([{ body: '改好了', by: 'coder-1' }]);
  expect(record.toolCalls.get('coder')).toEqual({ native: 1, rescued: 1, failed: 1 });
});

test('R-RUN-9: an effect is meant first and done later', () => {
  const record = emptyRecord();
  foldFrame(
    record,
    frame('coordinator', { type: 'effect.intended', key: 'push:x', kind: 'push', digest: 'd' }),
    trusted,
  );
  expect(record.effects.get('push:x')?.done).toBe(false);
  foldFrame(record, frame('coordinator', { type: 'effect.done', key: 'push:x', result: { kind: 'ok' } }), trusted);
  expect(record.effects.get('push:x')).toEqual({ kind: 'push', digest: 'd', done: true, result: { kind: 'ok' } });
});

test('R-RUN-9: an agent that exited is no child any more', () => {
  const record = emptyRecord();
  foldFrame(
    record,
    frame('coordinator', { type: 'agent.spawned', name: 'coder-1', role: 'coder', pid: 7, start_time: '9' }),
    trusted,
  );
  expect(record.children.get(7)).toEqual({ name: 'coder-1', role: 'coder', pid: 7, startTime: '9' });
  foldFrame(
    record,
    frame('coordinator', { type: 'agent.exited', name: 'coder-1', pid: 7, exit: 0, signal: null }),
    trusted,
  );
  expect(record.children.size).toBe(0);
});
