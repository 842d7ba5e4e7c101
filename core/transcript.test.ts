import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AssistantTurn, Turn } from '../protocol/index.ts';
import { lastReply, rebuildTurns, spokenTurns } from './transcript.ts';

const user: Turn = { role: 'user', content: 'go' };
const result = (id: string): Turn => ({ role: 'tool', call_id: id, name: 'bash', content: id, ok: true });

function reply(...ids: string[]): AssistantTurn {
  const calls = ids.map((id) => ({
    id,
    name: id.startsWith('r') ? 'read' : 'bash',
    input: {},
    origin: 'native' as const,
  }));
  return { role: 'assistant', content: '', calls, finish: 'tool_calls', usage: null };
}

const isRead = (name: string) => name === 'read';

test('R-LOOP-17: a whole transcript comes back as it is', () => {
  const turns = [user, reply('1', '2'), result('1'), result('2'), reply('3'), result('3')];
  expect(rebuildTurns(turns)).toEqual({ turns, repairs: [] });
  expect(rebuildTurns([])).toEqual({ turns: [], repairs: [] });
});

test('R-LOOP-17: calls at the end without a result get one that says so', () => {
  const turns = [user, reply('1', '2', '3'), result('1')];
  const { repairs, ...rebuilt } = rebuildTurns(turns);
  expect(rebuilt.turns).toEqual(turns);
  expect(repairs).toMatchObject([
    { role: 'tool', call_id: '2', name: 'bash', ok: false },
    { role: 'tool', call_id: '3', name: 'bash', ok: false },
  ]);
  expect(repairs[0]?.content).toMatch(/may have run.*Look at what is there/);
});

test('R-LOOP-17: calls at the end that may run again stay open', () => {
  const turns = [user, reply('1', 'r2')];
  expect(rebuildTurns(turns, isRead).repairs).toMatchObject([{ call_id: '1' }]);
});

test('R-LOOP-17: a call that was left open further up is closed in its place, also one that may run again', () => {
  const { turns, repairs } = rebuildTurns([reply('r1', '2'), result('2'), user, reply('3'), result('3')], isRead);
  expect(turns.map((turn) => (turn.role === 'tool' ? turn.call_id : turn.role))).toEqual([
    ...['assistant', '2', 'r1', 'user', 'assistant', '3'],
  ]);
  expect(repairs).toEqual([]);
});

test('R-LOOP-17: results without a call, and second ones, are left out', () => {
  const { turns } = rebuildTurns([result('0'), user, reply('1'), result('1'), result('1'), result('9')]);
  expect(turns).toEqual([user, reply('1'), result('1')]);
});

test('R-LOOP-17 (A13): whatever was recorded, each call ends up with exactly one result, behind it', () => {
  const id = fc.constantFrom('1', '2', '3', 'r1', 'r2');
  const turn = fc.oneof(
    fc.constant(user),
    fc.uniqueArray(id, { maxLength: 3 }).map((ids) => reply(...ids)),
    id.map(result),
  );
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 12 }), (recorded) => {
      const { turns, repairs } = rebuildTurns(recorded);
      let open: string[] = [];
      for (const turn of [...turns, ...repairs]) {
        if (turn.role === 'tool') {
          expect(open).toContain(turn.call_id);
          open = open.filter((id) => id !== turn.call_id);
        } else {
          expect(open).toEqual([]);
          open = turn.role === 'assistant' ? turn.calls.map((call) => call.id) : [];
        }
      }
      expect(open).toEqual([]);
    }),
  );
});

test('R-LOOP-17: the last reply is found with its open calls', () => {
  expect(lastReply([user])).toEqual({ open: [] });
  const last = reply('1', '2');
  expect(lastReply([user, reply('0'), result('0'), last, result('1')])).toEqual({ reply: last, open: [last.calls[1]] });
  expect(lastReply([last, result('1'), result('2'), user])).toEqual({ reply: last, open: [] });
});

test('R-LOOP-9: empty replies are not sent again', () => {
  const empty: Turn = { ...reply(), content: ' \n' };
  const text: Turn = { ...reply(), content: 'yes' };
  expect(spokenTurns([user, empty, reply('1'), text])).toEqual([user, reply('1'), text]);
});
