import { expect, test } from 'vitest';
import type { FinishReason } from '../../protocol/index.ts';
import { CallAssembler } from './call-assembler.ts';

/** One entry of `tool_calls`, as gateways shape it: place and id, name, arguments. */
function piece(place: object, name?: unknown, input?: unknown, more: object = {}) {
  return { ...place, function: { name, arguments: input }, ...more };
}

function assembled(deltas: readonly unknown[], finish: FinishReason = 'tool_calls', offered = ['ls', 'cat']) {
  const assembler = new CallAssembler({ offered: new Set(offered) });
  for (const delta of deltas) assembler.add(delta);
  return assembler.finish(finish);
}

/** Name and arguments of each call; `null` where it is broken. */
function told(deltas: readonly unknown[], finish?: FinishReason, offered?: string[]) {
  return assembled(deltas, finish, offered).calls.map(({ name, input, broken }) => [name, broken ? null : input]);
}

test.each<[string, readonly unknown[], readonly (readonly [string, object | null])[]]>([
  [
    'A1: one index is one call',
    [piece({ index: 0, id: 'a' }, 'ls', '{"p"'), piece({ index: 0 }, undefined, ':1}')],
    [['ls', { p: 1 }]],
  ],
  [
    'A1: another id with a name is a new call at the same index',
    [piece({ index: 0, id: 'a' }, 'ls', '{"p":1}'), piece({ index: 0, id: 'b' }, 'ls', '{"p":2}')],
    [
      ['ls', { p: 1 }],
      ['ls', { p: 2 }],
    ],
  ],
  [
    'A1: another id without a name is ignored',
    [piece({ index: 0, id: 'a' }, 'ls', '{"p"'), piece({ index: 0, id: 'b' }, null, ':1}')],
    [['ls', { p: 1 }]],
  ],
  [
    'A1: the id of an older call brings its pieces home',
    [
      piece({ index: 0, id: 'a' }, 'ls', '{"p"'),
      piece({ index: 0, id: 'b' }, 'cat', '{"q"'),
      piece({ index: 0, id: 'a' }, '', ':1}'),
      piece({ index: 0, id: 'b' }, '', ':2}'),
    ],
    [
      ['ls', { p: 1 }],
      ['cat', { q: 2 }],
    ],
  ],
  [
    'A1, A9: calls with indexes of their own are two, though they share an id',
    [piece({ index: 0, id: 'a' }, 'ls', '{}'), piece({ index: 1, id: 'a' }, 'cat', '{}')],
    [
      ['ls', {}],
      ['cat', {}],
    ],
  ],
  [
    'A1: indexes with gaps and pieces that alternate',
    [
      piece({ index: 3, id: 'a' }, 'ls', ''),
      piece({ index: 9, id: 'b' }, 'cat', ''),
      piece({ index: 3 }, undefined, '{"p":3}'),
      piece({ index: 9 }, undefined, '{"p":9}'),
    ],
    [
      ['ls', { p: 3 }],
      ['cat', { p: 9 }],
    ],
  ],
  [
    'A2: without an index, by id, then the last touched',
    [
      piece({ id: 'a' }, 'ls', '{"p"'),
      piece({ index: null }, undefined, ':1}'),
      piece({ id: 'b' }, 'cat', ''),
      piece({ id: 'b' }, undefined, '{"q":2}'),
    ],
    [
      ['ls', { p: 1 }],
      ['cat', { q: 2 }],
    ],
  ],
  [
    'A2: a call without an id is not joined with the next, which has one',
    [piece({}, 'ls', ''), piece({ id: 'b' }, 'cat', '{"q":2}')],
    [
      ['ls', {}],
      ['cat', { q: 2 }],
    ],
  ],
  [
    'A3: a name behind complete arguments is a new call, without an id',
    [piece({ index: 0 }, 'ls', '{"p":1}'), piece({ index: 0 }, 'ls', '{"p":2}')],
    [
      ['ls', { p: 1 }],
      ['ls', { p: 2 }],
    ],
  ],
  [
    'A3: with the same id, only another name is one',
    [
      piece({ index: 0, id: 'a' }, 'ls', '{"p":1}'),
      piece({ index: 0, id: 'a' }, 'cat', '{"q":2}'),
      piece({ index: 0, id: 'a' }, 'cat', ''),
    ],
    [
      ['ls', { p: 1 }],
      ['cat', { q: 2 }],
    ],
  ],
  [
    'A3: a name behind incomplete arguments is not',
    [piece({ index: 0 }, 'ls', '{"p":{"q":1}'), piece({ index: 0 }, 'ls', '}')],
    [['ls', { p: { q: 1 } }]],
  ],
  [
    'A4: later names that are null, empty or equal are ignored, as is another behind arguments',
    [
      piece({ index: 0, id: 'a' }, 'ls', ''),
      piece({ index: 0 }, null, '{'),
      piece({ index: 0 }, '', '"p"'),
      piece({ index: 0, id: 'a' }, 'ls', ':1'),
      piece({ index: 0, id: 'a' }, 'cat', '}'),
    ],
    [['ls', { p: 1 }]],
  ],
  [
    'A4: a name in pieces, and one behind the first arguments',
    [
      piece({ index: 0, id: 'a' }, 'l', ''),
      piece({ index: 0 }, 's', '{}'),
      piece({ index: 1, id: 'b' }, undefined, '{"q"'),
      piece({ index: 1 }, 'cat', ':2}'),
    ],
    [
      ['ls', {}],
      ['cat', { q: 2 }],
    ],
  ],
  ['A4: a late id', [piece({ index: 0 }, 'ls', '{"p"'), piece({ index: 0, id: 'a' }, 'ls', ':1}')], [['ls', { p: 1 }]]],
  ['A4: a channel in the name', [piece({ index: 0 }, 'ls<|channel|>commentary', '{}')], [['ls', {}]]],
  ['A4: a leading word in the name', [piece({ index: 0 }, 'functions.cat', '{}')], [['cat', {}]]],
  ['A4: which stays where the rest is no tool', [piece({ index: 0 }, 'functions.rm', '{}')], [['functions.rm', {}]]],
  ['A5: arguments as an object', [piece({ index: 0 }, 'ls', { p: [1] })], [['ls', { p: [1] }]]],
  [
    'A5: null adds nothing',
    [piece({ index: 0 }, 'ls', null), piece({ index: 0 }, null, '{"p":1}')],
    [['ls', { p: 1 }]],
  ],
  ['A5: what is neither is no object', [piece({ index: 0 }, 'ls', [1])], [['ls', null]]],
  [
    'A6: a placeholder first',
    [piece({ index: 0, id: 'a' }, 'ls', '{}'), piece({ index: 0 }, '', '{"p":1}')],
    [['ls', { p: 1 }]],
  ],
  [
    'A6: cumulative fragments',
    [piece({ index: 0, id: 'a' }, 'ls', '{"p'), piece({ index: 0 }, '', '{"p":'), piece({ index: 0 }, '', '{"p":1}')],
    [['ls', { p: 1 }]],
  ],
  [
    'A6: sent again whole',
    [piece({ index: 0, id: 'a' }, 'ls', '{"p'), piece({ index: 0 }, '', '":1}'), piece({ index: 0 }, '', '{"p":1}')],
    [['ls', { p: 1 }]],
  ],
  ['A6: a string that holds an object', [piece({ index: 0 }, 'ls', JSON.stringify('{"p":1}'))], [['ls', { p: 1 }]]],
  ['A6: none are an empty object', [piece({ index: 0 }, 'ls')], [['ls', {}]]],
  [
    'A6: a cut call whose last piece happens to be an object',
    [piece({ index: 0, id: 'a' }, 'ls', '{"p":'), piece({ index: 0 }, '', '{}')],
    [['ls', null]],
  ],
  ['A7: no brace is added', [piece({ index: 0 }, 'ls', '{"p":{"q":1}')], [['ls', null]]],
  ['A7: nor a quotation mark', [piece({ index: 0 }, 'ls', '{"p":"q')], [['ls', null]]],
  [
    'A7: a list, a number and a text are no object',
    ['[1]', '1', '"x"'].map((json, index) => piece({ index }, 'ls', json)),
    [
      ['ls', null],
      ['ls', null],
      ['ls', null],
    ],
  ],
  [
    'A8: the order is that of the first piece',
    [piece({ index: 1 }, 'cat', '{'), piece({ index: 0 }, 'ls', '{}'), piece({ index: 1 }, '', '}')],
    [
      ['cat', {}],
      ['ls', {}],
    ],
  ],
])('R-LLM-1: %s', (_rule, deltas, wanted) => {
  expect(told(deltas)).toEqual(wanted);
});

test('R-LLM-1: A6, F4: under the output limit, complete calls stay and empty ones are broken', () => {
  const deltas = [piece({ index: 0 }, 'ls', '{"p":1}'), piece({ index: 1 }, 'cat', '')];
  expect(told(deltas, 'length')).toEqual([
    ['ls', { p: 1 }],
    ['cat', null],
  ]);
});

test('R-LLM-1: A7: a call without a name is left out and counted, also when a marker is all of its name', () => {
  const { calls, nameless } = assembled([
    piece({ index: 0 }, '', '{}'),
    piece({ index: 1 }, '<|call|>', ''),
    piece({ index: 2 }, '', ''),
  ]);
  expect([calls, nameless]).toEqual([[], 2]);
});

test('R-LLM-1: A9: each id is there and there once; A11: a signature stays with its call', () => {
  const signed = { extra_content: { google: { thought_signature: 'c2ln' } } };
  const { calls } = assembled([
    piece({ index: 0, id: 'a' }, 'ls', '{}'),
    piece({ index: 1, id: 'a' }, 'ls', '{}', signed),
    piece({ index: 2 }, 'ls', '{}'),
  ]);
  expect(calls[0]?.id).toBe('a');
  expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
  expect(calls.map(({ id }) => id)).not.toContain('');
  expect(calls.map(({ signature }) => signature)).toEqual([undefined, 'c2ln', undefined]);
});

test('R-LLM-1: A3: a name in each of many deltas, without an id, is read in linear time', () => {
  const input = { text: '{"quoted"} '.repeat(6000) };
  const deltas = [...JSON.stringify(input)].map((character) => piece({ index: 0 }, 'ls', character));
  const started = performance.now();
  expect(told(deltas)).toEqual([['ls', input]]);
  expect(performance.now() - started).toBeLessThan(3000);
});
