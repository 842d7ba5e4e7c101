import { expect, test } from 'vitest';
import { rescued } from '../../test/helpers/rescued.ts';
import { functionTag, invoke, tag } from '../../test/helpers/written-calls.ts';
import { parameterTypes } from './schema-types.ts';

const types = {
  run_command: {
    text: ['string'],
    count: ['integer'],
    data: ['object'],
    flag: ['boolean'],
    either: ['integer', 'string'],
    maybe: ['string', 'null'],
  },
};
const qwen = (key: string, value: string) => `<function=run_command><parameter=${key}>${value}</parameter></function>`;
const minimax = (key: string, value: string) =>
  tag('minimax:tool_call', '', invoke({ name: 'run_command', input: { [key]: value } }));
const glm = (key: string, value: string) =>
  tag('tool_call', '', `run_command${tag('arg_key', '', key)}${tag('arg_value', '', value)}`);
const dsml = (key: string, value: string, isString: string) =>
  invoke({ name: 'run_command', input: { [key]: value } }, '｜DSML｜', isString);

/** The one value that came. */
function valueIn(text: string): unknown {
  const [, calls, dropped] = rescued(text, { types });
  expect([text, calls.length, dropped]).toEqual([text, 1, false]);
  return Object.values(calls[0]?.[1] as object)[0];
}

for (const [name, write] of Object.entries({ qwen, minimax, glm })) {
  test(`R-LLM-56: T1, T2, T5 in ${name}: the type decides, and an unknown one is text`, () => {
    for (const [key, value, wanted] of [
      ['text', '5', '5'],
      ['text', 'True', 'True'],
      ['count', '5', 5],
      ['count', 'five', 'five'],
      ['count', 'None', null],
      ['data', '{"a": [1],}', { a: [1] }],
      ['flag', 'True', true],
      ['flag', 'false', false],
      ['other', '5', '5'],
      ['other', '{"a":1}', '{"a":1}'],
      ['either', '5', 5],
      ['either', 'x', 'x'],
      ['either', 'null', 'null'],
      ['maybe', 'null', null],
      ['maybe', '5', '5'],
    ] as const) {
      expect([key, value, valueIn(write(key, value))]).toEqual([key, value, wanted]);
    }
  });
}

test('R-LLM-56: T3: newlines at the ends, by family', () => {
  for (const [value, each, both] of [
    ['\na\n', 'a', 'a'],
    ['\na', 'a', '\na'],
    ['a\n', 'a', 'a\n'],
    ['\n\n a \n\n', '\n a \n', '\n a \n'],
    ['\r\na\r\n', 'a', 'a'],
    ['\n', '', '\n'],
    ['', '', ''],
  ] as const) {
    expect([value, valueIn(qwen('text', value))]).toEqual([value, each]);
    expect([value, valueIn(minimax('text', value))]).toEqual([value, both]);
    expect([value, valueIn(glm('text', value))]).toEqual([value, both]);
    expect([value, valueIn(dsml('text', value, ' string="true"'))]).toEqual([value, value]);
  }
});

test('R-LLM-56: T4: in DSML the attribute beats the schema', () => {
  expect(valueIn(dsml('count', '5', ' string="true"'))).toBe('5');
  expect(valueIn(dsml('text', '5', ' string="false"'))).toBe(5);
  expect(valueIn(dsml('text', 'x', ' string="false"'))).toBe('x');
  expect(valueIn(dsml('count', '5', ''))).toBe(5);
  expect(valueIn(dsml('text', '5', ''))).toBe('5');
});

test('R-LLM-56: types come from the JSON schemas of the tools, where they say them', () => {
  const properties = {
    a: { type: 'integer' },
    b: { type: ['string', 'null'] },
    c: { anyOf: [{ type: 'array' }, { type: 'string' }] },
    d: { anyOf: [{ $ref: '#/x' }, { type: 'string' }] },
    e: { enum: ['x', 1, null] },
    f: { const: true },
    g: {},
  };
  expect(parameterTypes({ type: 'object', properties })).toEqual({
    ...{ a: ['integer'], b: ['string', 'null'], c: ['array', 'string'] },
    ...{ e: ['string', 'number', 'null'], f: ['boolean'] },
  });
  expect(parameterTypes(undefined)).toEqual({});
});

test('R-LLM-57: X1, X2, X3: nested openers need their closers, lone closers are data, entities stay', () => {
  const inner = (write: typeof qwen) => `${write('text', 'x')}\nand ${write('text', 'y')}`;
  for (const write of [qwen, minimax, glm]) {
    for (const value of [
      inner(qwen),
      inner(minimax),
      inner(glm),
      'a &lt; b',
      '<tool_call>{"name":',
      '</think> <|im_end|>',
    ]) {
      expect(valueIn(write('text', value))).toBe(value);
    }
  }
  for (const [write, closer, unit] of [
    [qwen, '</parameter>', '</function>'],
    [minimax, '</parameter>', '</invoke>'],
    [glm, '</arg_value>', '</tool_call>'],
  ] as const) {
    for (const value of [`a ${closer} b`, `a ${unit} b`, `${unit}${closer} b`]) {
      expect(valueIn(write('text', value))).toBe(value);
    }
  }
  const lone = { qwen: '<parameter=x>', minimax: '<parameter name="x">', glm: '<arg_value>' };
  expect(rescued(qwen('text', lone.qwen)).slice(1, 3)).toEqual([[], true]);
  expect(rescued(minimax('text', lone.minimax)).slice(1, 3)).toEqual([[], true]);
  expect(rescued(glm('text', lone.glm)).slice(1, 3)).toEqual([[], true]);
  // another kind of tag is no opener
  expect(valueIn(dsml('text', lone.minimax, ' string="true"'))).toBe(lone.minimax);
});

test('R-LLM-57: two parameters are two values, and one without a closer of its own is never ended by guess', () => {
  const two = functionTag({ name: 'run_command', input: { text: 'a </parameter> b', count: '3' } });
  expect(rescued(two, { types })[1]).toEqual([['run_command', { text: 'a </parameter> b', count: 3 }]]);
  expect(rescued('<function=run_command><parameter=text>\na\n</function>').slice(1, 3)).toEqual([[], true]);
});

test('R-LLM-57: quotes around attributes are double, single or none', () => {
  const tags = `<invoke name=run_command><parameter name='text'>a</parameter><parameter name=count>1</parameter></invoke>`;
  expect(rescued(tags, { types })[1]).toEqual([['run_command', { text: 'a', count: 1 }]]);
});
