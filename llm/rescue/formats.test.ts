import { expect, test } from 'vitest';
import { offered, rescued, rescueIn } from '../../test/helpers/rescued.ts';
import { formats, type MeantCall } from '../../test/helpers/written-calls.ts';

const read: MeantCall = { name: 'read_file', input: { path: 'src/日本.ts' } };
const write: MeantCall = {
  name: 'write_file',
  input: { path: 'a.md', content: 'one\n  "two" </tool_call>\n<b>`three`\n' },
};
const short: MeantCall = { name: 'list_dir', input: { p: '</b>\n' } };
const calls = (...meant: MeantCall[]) => meant.map(({ name, input }) => [name, input]);

for (const [format, { write: written, whole }] of Object.entries(formats)) {
  const before = whole ? '' : 'I look.\n';
  const after = whole ? '' : '\nThat is all.';

  test(`R-LLM-61: ${format}: one call and several, with text before and behind`, () => {
    const text = whole || format === 'functionary' ? '' : 'I look.\nThat is all.';
    const behind = format === 'functionary' ? '' : after;
    const shown = format === 'functionary' ? 'I look.' : text;
    expect(rescued(before + written([read]) + behind)).toEqual([shown, calls(read), false, '']);
    expect(rescued(before + written([read, write, read]) + behind)).toEqual([
      shown,
      calls(read, write, read),
      false,
      '',
    ]);
  });

  test(`R-LLM-61: ${format}: wherever it is cut, whole calls are kept and no half one is made`, () => {
    const text = before + written([read, short]);
    const meant = calls(read, short);
    for (let end = 0; end <= text.length; end += 1) {
      const [, found, dropped] = rescued(text.slice(0, end));
      expect([end, found]).toEqual([end, meant.slice(0, found.length)]);
      // nothing of a call may have been seen, or all of it; else it is asked for again
      if (end > text.length * 0.85 && found.length < 2) expect([end, dropped]).toEqual([end, true]);
    }
    expect(rescued(text)[1]).toEqual(meant);
  });

  test(`R-LLM-61: ${format}: ids are fresh and unique, in the form of the model`, () => {
    const ids = [1, 2].flatMap(() => rescueIn([written([read, read, read])]).calls.map(({ id }) => id));
    expect(new Set(ids).size).toBe(6);
    const form = /kimi/.test(format)
      ? /^functions\.read_file:\d+$/
      : /mistral/.test(format)
        ? /^[A-Za-z0-9]{9}$/
        : /cohere/.test(format)
          ? /^\d+$/
          : /^call_[0-9a-f]{24}$/;
    for (const id of ids) expect(id).toMatch(form);
  });
}

const input = { path: 'a' };
const json = JSON.stringify(input);
const begin = '<｜tool▁calls▁begin｜>';
test.each([
  [
    'a second opener before the first closer',
    `<tool_call>{"name":"read_file","arguments":${json}}<tool_call>{"name":"read_file","arguments":${json}}</tool_call>`,
    2,
  ],
  [
    'DeepSeek: another spelling of the wrapper',
    `<|tool_calls_begin|><|tool_call_begin|>read_file<|tool_sep|>${json}<|tool_call_end|><|tool_calls_end|>`,
    1,
  ],
  [
    'DeepSeek: blanks in the tokens',
    `<｜tool calls begin｜><｜tool call begin｜>read_file<｜tool sep｜>${json}<｜tool call end｜>`,
    1,
  ],
  [
    'DeepSeek: escaped underscores',
    `<｜tool\\_calls\\_begin｜><｜tool\\_call\\_begin｜>read_file<｜tool\\_sep｜>${json}`,
    1,
  ],
  ['DeepSeek: a short wrapper', `<｜tool▁calls｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>${json}`, 1],
  ['DeepSeek: the first begin token is missing', `${begin}read_file<｜tool▁sep｜>${json}<｜tool▁call▁end｜>`, 1],
  ['DeepSeek: no wrapper', `<｜tool▁call▁begin｜>read_file<｜tool▁sep｜>${json}<｜tool▁call▁end｜>`, 1],
  [
    'DeepSeek: a fence in V3.1',
    `${begin}<｜tool▁call▁begin｜>read_file<｜tool▁sep｜>\n\`\`\`json\n${json}\n\`\`\`<｜tool▁call▁end｜>`,
    1,
  ],
  [
    'Kimi: the other name of the section',
    `<|tool_call_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>${json}<|tool_call_end|><|tool_call_section_end|>`,
    1,
  ],
  [
    'Kimi: an id without its prefix, and white space',
    `<|tool_call_begin|> read_file:12 <|tool_call_argument_begin|> ${json} <|tool_call_end|>`,
    1,
  ],
  ['Mistral: white space between the parts', `[TOOL_CALLS] read_file [CALL_ID]q7Rt2Lm9X [ARGS] ${json}`, 1],
  ['xLAM: a list behind the token of Mistral', `[TOOL_CALLS] [{"name":"read_file","arguments":${json}}]`, 1],
  [
    'harmony: a bare name, on the analysis channel, without an end',
    `<|channel|>analysis to=read_file code<|message|>${json}`,
    1,
  ],
  ['granite: an object', `<|tool_call|>{"name":"read_file","arguments":${json}}`, 1],
  ['functionary: messages that follow without a line break', `>>>read_file\n${json}>>>read_file\n${json}>>>all\n`, 2],
  ['pythonic: one call without brackets behind its token', `<|python_start|>read_file(path='a')<|python_end|>`, 1],
] as const)('R-LLM-61: %s', (_, text, times) => {
  expect(rescued(text)).toEqual(['', Array(times).fill(['read_file', input]), false, '']);
});

test('R-LLM-61: names may hold dots and colons; only what belongs to the format is taken off', () => {
  const names = { offered: ['fs.read:all', 'functions.x'] };
  const kimi = (name: string) => `<|tool_call_begin|>${name}<|tool_call_argument_begin|>{}<|tool_call_end|>`;
  expect(rescued(kimi('functions.fs.read:all:3'), names)[1]).toEqual([['fs.read:all', {}]]);
  expect(rescued(kimi('functions.x:0'), names)[1]).toEqual([['functions.x', {}]]);
  expect(offered).not.toContain('functions.x');
});

test('R-LLM-61: Python values are read: both quotes, words, lists, tuples, dictionaries', () => {
  const text = `[run_command(a='it\\'s', b="x\\n\\u00e9", c=[1, -2.5, (3, 4)], d={'k': None, "l": True}, e=false, f=(1))]`;
  const values = { a: "it's", b: 'x\né', c: [1, -2.5, [3, 4]], d: { k: null, l: true }, e: false, f: 1 };
  expect(rescued(text)[1]).toEqual([['run_command', values]]);
});
