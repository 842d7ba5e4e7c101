import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AssistantTurn, LoopEvent, Turn } from '../protocol/index.ts';
import { call, calls, opening, playLoop, readEvents, says, submit, tool } from '../test/helpers/scripted-loop.ts';
import type { Model } from './model.ts';

/** A process that is killed before its `at`-th event is durable: nothing after that happens. */
class Killed extends Error {}

/** Plays a script by the number that the loop asks for, as a gateway numbers the steps of a task. */
function numbered(script: readonly AssistantTurn[], asked: number[]): Model {
  return {
    async reply({ turn }) {
      asked.push(turn);
      const reply = script[turn];
      if (reply === undefined) throw new Error(`step ${turn} is not in the script`);
      return reply;
    },
  };
}

/** Runs a script, kills it before each of the events in `kills`, and goes on from what was logged. */
async function survive(script: readonly AssistantTurn[], kills: readonly number[]) {
  const logged: LoopEvent[] = [];
  const asked: number[] = [];
  const effects: string[] = [];
  const write = tool('write', { run: (input) => `${effects.push(JSON.stringify(input))}` });
  const read = tool('read', { concurrent: true, run: (input) => JSON.stringify(input) });
  for (const kill of [...kills, Number.POSITIVE_INFINITY]) {
    let count = 0;
    try {
      const { outcome } = await playLoop(numbered(script, asked), {
        tools: [write, read],
        transcript: readEvents(logged).turns,
        record: async (event) => {
          if (count === kill) throw new Killed();
          count += 1;
          logged.push(event);
        },
      });
      return { outcome, logged, asked, effects, turns: readEvents(logged).turns };
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
  throw new Error('the last attempt is never killed');
}

function expectPairs(turns: readonly Turn[], openAtEnd: readonly string[]): void {
  const asked = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls.map((call) => call.id) : []));
  const answered = turns.flatMap((turn) => (turn.role === 'tool' ? [turn.call_id] : []));
  expect(new Set(answered).size).toBe(answered.length);
  expect([...answered, ...openAtEnd].sort()).toEqual([...asked].sort());
}

const script = () => [
  calls(call('read', { n: 1 }), call('read', { n: 2 })),
  calls(call('write', { n: 3 }), call('read', { n: 4 }), call('write', { n: 5 })),
  says('I think it is done.'),
  submit('mended'),
];

test('R-LOOP-17: killed before any of its events, a task ends the same, repeats no effect and pays for one reply more at most', async () => {
  const whole = await survive(script(), []);
  expect(whole.outcome).toMatchObject({ reason: 'submitted', steps: 4 });
  for (let kill = 0; kill < whole.logged.length; kill += 1) {
    const steps = script();
    const { outcome, asked, effects, turns } = await survive(steps, [kill]);
    expect(outcome).toMatchObject({ reason: 'submitted', steps: 4, result: { summary: 'mended' } });
    expect(asked.length).toBeLessThanOrEqual(5);
    expect(new Set(effects).size).toBe(effects.length);
    expectPairs(turns, steps[3]?.calls.map((call) => call.id) ?? []);
    expect(turns.slice(0, 2)).toEqual(opening);
  }
});

test('R-LOOP-17: an effect is missing only where the model was told that it may be', async () => {
  const whole = await survive(script(), []);
  for (let kill = 0; kill < whole.logged.length; kill += 1) {
    const { effects, turns } = await survive(script(), [kill]);
    const told = turns.filter((turn) => turn.role === 'tool' && turn.content.startsWith('Interrupted')).length;
    expect(effects.length + told).toBeGreaterThanOrEqual(2);
  }
});

test('R-LOOP-17: whatever is asked for and however often it is killed, a task comes to its end in whole pairs', async () => {
  const reply = fc.array(fc.constantFrom('read', 'write'), { minLength: 1, maxLength: 4 });
  let n = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(reply, { maxLength: 4 }),
      fc.array(fc.nat(30), { maxLength: 3 }),
      async (replies, kills) => {
        const steps = [
          ...replies.map((names) =>
            calls(
              ...names.map((name) => {
                n += 1;
                return call(name, { n });
              }),
            ),
          ),
          submit(),
        ];
        const { outcome, effects, turns, asked } = await survive(steps, kills);
        expect(outcome.reason).toBe('submitted');
        expect(new Set(effects).size).toBe(effects.length);
        expect(asked.length).toBeLessThanOrEqual(steps.length + kills.length);
        expectPairs(turns, steps.at(-1)?.calls.map((call) => call.id) ?? []);
      },
    ),
    { numRuns: 60 },
  );
});
