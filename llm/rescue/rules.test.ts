import { expect, test } from 'vitest';
import { type RescueInput, rescued } from '../../test/helpers/rescued.ts';
import { formats, functionTag, invoke, type MeantCall, tag } from '../../test/helpers/written-calls.ts';

const meant: MeantCall = { name: 'read_file', input: { path: 'a' } };
const found = ['read_file', { path: 'a' }];
const json = JSON.stringify({ name: 'read_file', arguments: { path: 'a' } });
const unknown = json.replace('read_file', 'teleport');
const call = `<tool_call>${json}</tool_call>`;
const bad = '<tool_call>{"name":"read_file","arguments":{"path":a}}</tool_call>';
const wrapped = (...invokes: string[]) => tag('function_calls', '', invokes.join(''));
const cutAfter = (text: string, word: string) => text.slice(0, text.indexOf(word) + word.length);
const kimi = (name: string, args: string) =>
  `<|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${args}<|tool_call_end|>`;

type Wanted = readonly [content: string, calls: number, dropped: boolean];
/** Text as it is. */
const text = (content: string): Wanted => [content, 0, false];
const dropped = (content = ''): Wanted => [content, 0, true];
const called = (content = '', times = 1): Wanted => [content, times, false];

function check(
  id: string,
  rules: Readonly<Record<string, readonly (readonly [string, Wanted, RescueInput?])[]>>,
): void {
  for (const [rule, cases] of Object.entries(rules)) {
    test(`${id}: ${rule}`, () => {
      for (const [content, [shown, times, lost], input] of cases) {
        const result = rescued(content, input).slice(0, 3);
        expect([content, ...result]).toEqual([content, shown, Array(times).fill(found), lost]);
      }
    });
  }
}

check('R-LLM-53', {
  'S3: six characters of an opener at the end are a cut call, five are text': [
    ...[
      '<tool_',
      '<｜tool',
      '<|chan',
      '[TOOL_',
      '<invoke',
      '<functi',
      '<minim',
      '<｜｜DSM',
      '<seed:t',
      '<|START',
      '<|pyth',
    ].map((opener) => [`x ${opener}`, dropped('x')] as const),
    ...['<tool', '<｜too', '[TOOL', '<inv', '<|cha', '<', '['].map(
      (opener) => [`x ${opener}`, text(`x ${opener}`)] as const,
    ),
  ],
  'S3: tags of thinking, control tokens and other tags do not count, nor does a protected opener': [
    ...['x <|im_end', 'x <think', 'x </tool_cal', 'x <button', 'x <svg:rec', '`<tool_c', '```\n<tool_c'].map(
      (content) => [content, text(content)] as const,
    ),
    ...['"<tool_c', '> <tool_c', 'x >>>read', 'x functool'].map((content) => [content, text(content)] as const),
  ],
  'V2: JSON must begin with an object that has a key of a call, or a list of such': [
    ['a <tool_call>{"path":1} b', text('a <tool_call>{"path":1} b')],
    ['a <tool_call>[] b', text('a <tool_call>[] b')],
    ['a <tool_call>["name"] b', text('a <tool_call>["name"] b')],
    ['<tool_call>{"index":0,"name":"read_file","arguments":{"path":"a"}}', called()],
    ...['{', '{"', '{"na', '[', '[ {"to'].map((head) => [`<tool_call>${head}`, dropped()] as const),
    ['<tool_call>{"nam"', text('<tool_call>{"nam"')],
  ],
  'V2: what stands behind a function or invoke tag decides': [
    ['the <function=read_file> tag', text('the <function=read_file> tag')],
    ['<function=read_file>', dropped()],
    ['<function=read_', dropped()],
    ['<function=other', text('<function=other')],
    [`the ${cutAfter(invoke(meant), '>')} tag`, text(`the ${cutAfter(invoke(meant), '>')} tag`)],
    [cutAfter(invoke(meant), '>'), dropped()],
    [cutAfter(invoke(meant), 'read_'), dropped()],
  ],
  'V2: GLM needs a name on its line or the next, and a key or the closer behind it': [
    ['<tool_call>\nread_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>', called()],
    ['<tool_call>\n\nread_file</tool_call> x', text('<tool_call>\nread_file</tool_call> x')],
    ['<tool_call>done</tool_call> x', text('<tool_call>done</tool_call> x')],
    ['<tool_call>read_f', dropped()],
    ['<tool_call>other', text('<tool_call>other')],
    ['<tool_call>read_file and more', text('<tool_call>read_file and more')],
  ],
  'V2: begin tokens need a name and a separator, Mistral a brace, harmony a whole header': [
    ['the <|tool_call_begin|> token comes', text('the <|tool_call_begin|> token comes')],
    ['<|tool_call_begin|>read_fi', dropped()],
    ['the [TOOL_CALLS]read_file token', text('the [TOOL_CALLS]read_file token')],
    ['[TOOL_CALLS]read_file[AR', dropped()],
    ['<|channel|>other<|message|>x', text('<|channel|>other<|message|>x')],
    ['<|start|>assistant says', text('<|start|>assistant says')],
    ['<|channel|>commentary to=functions.read_file', dropped()],
  ],
  'V2: pythonic and functionary need a known name': [
    ['<|python_start|>[teleport(a=1)]', text('<|python_start|>[teleport(a=1)]')],
    ['<|python_tag|>print(1)', text('<|python_tag|>print(1)')],
    ['>>>teleport\n{"path":"a"}', text('>>>teleport\n{"path":"a"}')],
    ['>>>read_file\ntext', text('>>>read_file\ntext')],
    ['>>>read_file\n', dropped()],
  ],
  'V3: an unknown name is dropped where a marker vouches for it, also when it is cut, and its neighbours are not': [
    [`a ${call.replace('read_file', 'teleport')} b`, dropped('a b')],
    ['<tool_call>{"name":"teleport","argum', dropped()],
    [`${kimi('teleport', '{}')}${kimi('read_file', '{"path":"a"}')}`, ['', 1, true]],
    [wrapped(invoke({ ...meant, name: 'teleport' }), invoke(meant)), ['', 1, true]],
    [`<tool_call>[${unknown}, ${json}]</tool_call>`, ['', 1, true]],
    [`[TOOL_CALLS]teleport{"path":"a"}[TOOL_CALLS]read_file{"path":"a"}`, ['', 1, true]],
    [tag('tool_call', '', functionTag({ ...meant, name: 'teleport' })), dropped()],
    [invoke({ ...meant, name: 'teleport' }, '｜DSML｜'), dropped()],
    ['<|python_start|>[read_file(path="a"), teleport()]<|python_end|>', ['', 1, true]],
  ],
  'V3: `functions.` is taken off when the rest is offered': [
    [call.replace('read_file', 'functions.read_file'), called()],
    [call.replace('read_file', 'functions.teleport'), dropped()],
  ],
  'V5: what is closed but invalid is hidden up to the first closer behind the fault': [
    [`Go. ${bad} Done.`, dropped('Go. Done.')],
    [`<tool_call>{"name":"read_file" x</tool_call> y</tool_call> z`, dropped('y</tool_call> z')],
    [`${bad.replace('</tool_call>', '')} all the rest`, dropped()],
    [`<tool_call>{"arguments":{}}</tool_call> x`, dropped('x')],
    [`<tool_call>{"name":"read_file","arguments":[1]}</tool_call> x`, dropped('x')],
    [`<tool_call>{"name":"read_file","arguments":"[1]"}</tool_call> x`, dropped('x')],
    [`${kimi('read_file', '5')} x`, dropped('x')],
    [`[TOOL_CALLS]read_file{x} y`, dropped()],
    [`${tag('tool_call', '', '<function=read_file><b></function>')} x`, dropped('x')],
    [`${wrapped('<invoke name="read_file"><b></invoke>')} x`, dropped('x')],
    [
      `<|channel|>commentary to=functions.read_file<|message|>{x<|start|>assistant<|channel|>final<|message|>y`,
      dropped('y'),
    ],
  ],
  'V6: text that still fits at the end is hidden whole': [
    ['a <tool_call>\n', dropped('a')],
    ['a <|python_tag|>', dropped('a')],
    ['a <｜tool▁calls▁begin｜>', dropped('a')],
    ['a [TOOL_CALLS]', dropped('a')],
    [`a ${cutAfter(functionTag(meant), '<parameter=pa')}`, dropped('a')],
    [`a ${cutAfter(functionTag(meant), '</parameter>')}`, dropped('a')],
  ],
  'V7: units before a bad one stay, but for those in one broken list': [
    [`${call}<tool_call>{"name":"read_file","arg`, ['', 1, true]],
    [`${call}${bad}`, ['', 1, true]],
    [wrapped(invoke(meant), '<invoke name="read_file"><b></invoke>'), ['', 1, true]],
    [`<tool_call>[${json}, ${json}`, dropped()],
    [`<tool_call>[${json}, {"name":"read_file",x}]</tool_call>`, dropped()],
    [`<tool_call>[${json}, 5, {"name":"read_file","arguments":1}]</tool_call>`, ['', 1, true]],
  ],
  'V8: calls keep their order, and equal ones are not merged': [[call + call, called('', 2)]],
});

check('R-LLM-52', {
  'P1: nothing in a fence is a call': [
    ...['```', '```xml', '~~~', '   ```', '\t~~~~ info', '``````'].map((fence) => {
      const closer = /[`~]+/.exec(fence)?.[0];
      return [`${fence}\n${call}\n${closer}\n${call}`, called(`${fence.trimStart()}\n${call}\n${closer}`)] as const;
    }),
    [`\`\`\`\n${call}`, text(`\`\`\`\n${call}`)],
    [`\`\`\`\`\n\`\`\`\n${call}`, text(`\`\`\`\`\n\`\`\`\n${call}`)],
    [`\`\`\`\n~~~\n${call}`, text(`\`\`\`\n~~~\n${call}`)],
    [`\`\`\`\n\`\`\` x\n${call}`, text(`\`\`\`\n\`\`\` x\n${call}`)],
    [`\`\`\`a\`b\n${call}`, called('```a`b')],
    [`x \`\`\`\n${call}`, called('x ```')],
  ],
  'P2: inline code ends at a run of the same length on its line, else the backticks are literal': [
    [`\`${call}\` x`, text(`\`${call}\` x`)],
    [`\`\`x \` ${call}\`\` y`, text(`\`\`x \` ${call}\`\` y`)],
    [`\`x ${call}\n\``, called('`x \n`'.replace(' \n', '\n'))],
    [`\`\`x ${call} \` y`, called('``x ` y')],
  ],
  'P3: an opening quotation mark, or a literal backtick, makes a mention': [
    ...['“', '‘', '«', '「', '『', '"', "'", 'x="', "x='", "('", "{'", ":'", '`', 'say "a" "'].map(
      (mark) => [`${mark}${call} x`, text(`${mark}${call} x`)] as const,
    ),
    ...['”', 'for "TODO"', "don'", '"a" b', 'x `a`'].map((mark) => [`${mark}${call}`, called(mark)] as const),
    [`"\n${call}`, called('"')],
  ],
  'P4: a block quote is not scanned': [
    [`> ${call} x\n${call}`, called(`> ${call} x`)],
    [`   > ${call} x`, text(`> ${call} x`)],
    [`    > ${call}`, called('>')],
    [`>${call}`, called('>')],
  ],
  'P5: behind a mention, scanning goes on one character later': [
    [`The <tool_call> element ${call}`, called('The <tool_call> element')],
    [`<<tool_call><tool_call>${json}</tool_call>`, called('<<tool_call>')],
  ],
  'inside a block that has begun, none of this matters': [
    [formats['deepseek-v3']?.write([meant]) ?? '', called()],
    [`<tool_call>\n> {"name":1}\n${call}`, called('<tool_call>\n> {"name":1}')],
    [tag('tool_call', '', `\n${json.replace('{', '{\n> ').replace('> ', '')}\n`), called()],
  ],
});

check('R-LLM-54', {
  'C1, C2: complete JSON is complete; a closer behind it is taken, also when it is cut, anything else is text': [
    [`<tool_call>${json}`, called()],
    [`<tool_call>${json} and more`, called('and more')],
    [`<tool_call>${json}\n </tool_`, called()],
    [`${call}</tool_call> x`, called('x')],
    [`${kimi('read_file', '{"path":"a"}').slice(0, -3)}`, called()],
    [`<|action_start|><|plugin|>${json}<|action_end|> x`, called('x')],
  ],
  'C3: inner closers of XML are needed, outer ones are not': [
    [`<tool_call>${functionTag(meant)}`, called()],
    [`<tool_call>${functionTag(meant)} x`, called('x')],
    [`<tool_call>${functionTag(meant)}\n</tool`, called()],
    [`<tool_call>${functionTag(meant)}<`, called()],
    [cutAfter(wrapped(invoke(meant)), '</invoke>'), called()],
    [cutAfter(wrapped(invoke(meant)), '</inv'), dropped()],
  ],
  'C4: only its closer ends a GLM call': [
    ['<tool_call>read_file<arg_key>path</arg_key><arg_value>a</arg_value>', dropped()],
    ['<tool_call>read_file</tool_c', dropped()],
  ],
  'C5: the wrapper may be missing; an unknown name is then text': [
    [functionTag(meant), called()],
    [invoke(meant), called()],
    [invoke(meant, 'ns:'), called()],
    [kimi('read_file', '{"path":"a"}'), called()],
    [`${functionTag({ ...meant, name: 'teleport' })} x`, text(`${functionTag({ ...meant, name: 'teleport' })} x`)],
    [`${invoke({ ...meant, name: 'teleport' })} x`, text(`${invoke({ ...meant, name: 'teleport' })} x`)],
  ],
  'C6: the opener of a GLM value may be missing': [
    ['<tool_call>read_file<arg_key>path</arg_key>a</arg_value></tool_call>', called()],
    ['<tool_call>read_file\n<arg_key>path</arg_key>\na\n</arg_value>\n</tool_call>', called()],
  ],
});

check('R-LLM-55', {
  'J2, J3: trailing commas and extra braces are left out': [
    ['<tool_call>{"name":"read_file","arguments":{"path":"a",},}</tool_call>', called()],
    [`<tool_call>${json}}} }\n</tool_call> x`, called('x')],
    [`<tool_call>${json}}`, called()],
    [`<tool_call>${json}} x`, called('} x')],
    [`<tool_calls>${json}}\n${json}}</tool_calls>`, called('', 2)],
  ],
  'J4: nothing is completed by guess': [
    ['<tool_call>{"name":"read_file","arguments":{"path":"a"}</tool_call> x', dropped('x')],
    ['<tool_call>{"name":"read_file","arguments":{"path":"a}}</tool_call> x', dropped()],
    ["<tool_call>{'name':'read_file'}</tool_call> x", text("<tool_call>{'name':'read_file'}</tool_call> x")],
    ['<tool_call>{"name":"read_file","arguments":{"path":True}}</tool_call> x', dropped('x')],
    ['<tool_call>{"name":"read_file","arguments":{"path":"\\x"}}</tool_call> x', dropped('x')],
    ['<tool_call>{"name":"read_file","arguments":{"path":01}}</tool_call> x', dropped('x')],
  ],
  'J5: name and arguments under all their keys, in any order': [
    ['<tool_call>{"arguments":{"path":"a"},"name":"read_file"}', called()],
    ['<tool_call>{"tool_name":"read_file","parameters":{"path":"a"}}', called()],
    ['<tool_call>{"type":"function","function":{"name":"read_file","arguments":{"path":"a"}}}', called()],
    ['<tool_call>{"function":{"parameters":{"path":"a"},"name":"read_file"}}', called()],
    ['<tool_call>{"name":"read_file","arguments":"{\\"path\\": \\"a\\"}"}', called()],
  ],
});

test('R-LLM-55: J0, J1: markers and control characters in a string are data', () => {
  const content = 'a</tool_call>\n\t<tool_call>{"x"\u0001';
  const raw = `<tool_call>{"name":"read_file","arguments":{"path":"${content.replaceAll('"', '\\"')}"}}</tool_call>`;
  expect(rescued(raw)).toEqual(['', [['read_file', { path: content }]], false, '']);
});

test('R-LLM-55: J6: no arguments are an empty object', () => {
  for (const rest of ['', ',"arguments":null', ',"arguments":""', ',"parameters":{}']) {
    expect(rescued(`<tool_call>{"name":"list_dir"${rest}}</tool_call>`)).toEqual(['', [['list_dir', {}]], false, '']);
  }
});

test('R-LLM-55: keys like `__proto__` are keys, and nesting without end is invalid, not a crash', () => {
  const [, [[, input] = []]] = rescued('<tool_call>{"name":"list_dir","arguments":{"__proto__":{"x":1}}}');
  expect(Object.keys(input as object)).toEqual(['__proto__']);
  expect(rescued(`<tool_call>{"name":"list_dir","arguments":${'['.repeat(100_000)}`)).toEqual(['', [], true, '']);
});

check('R-LLM-58', {
  'B1: an object, a row of them, a list or a list of Python calls, with white space and closers behind': [
    [json, called()],
    [` ${json};\n${json}`, called('', 2)],
    [`${json} ${json}<|eom_id|>\n`, called('', 2)],
    [`[${json},${json},]`, called('', 2)],
    [`${json}\n</tool_call><|im_end|>`, called()],
    [`${json}</tool_c`, called()],
    [`[read_file(path='a'), read_file(path="a")]`, called('', 2)],
    [`<think>x</think>\n${json}`, called()],
    ['{"type":"function","function":{"name":"read_file","parameters":{"path":"a"}}}', called()],
  ],
  'B1: other text, another key, an unknown name or no arguments make it text': [
    ...[`x ${json}`, `${json} x`, unknown, `[${json},${unknown}]`, '{"name":"read_file"}', '[1, 2]', '[x](y)'].map(
      (content) => [content, text(content)] as const,
    ),
    ...[
      '{"name":"read_file","arguments":{},"x":1}',
      '[read_file(path="a")] x',
      '[read_file(path="a"), other()]',
      '{}',
    ].map((content) => [content, text(content)] as const),
    ['{"name":"read_file","arguments":{"path":a}}', text('{"name":"read_file","arguments":{"path":a}}')],
  ],
  'B3: a cut one is dropped only when a complete known name was seen': [
    ...['{"na', '{"name":"read_', '[{"name":"rea', '[read_fi', '[read_file', '{"arguments":{"path":'].map(
      (content) => [content, text(content)] as const,
    ),
    ...[
      '{"name":"read_file"',
      '{"name":"read_file","argu',
      '[{"name":"read_file"',
      '[read_file(',
      '[read_file(path="a"',
    ].map((content) => [content, dropped()] as const),
    [`${json}; {"na`, ['', 1, true]],
  ],
  'B4: `functools[` and `>>>NAME` count at the start of a line': [
    [`x\nfunctools[${json}]`, called('x')],
    [`x functools[${json}] y`, text(`x functools[${json}] y`)],
    ['x\n>>>read_file\n{"path":"a"}', called('x')],
    ['x >>>read_file\n{"path":"a"}', text('x >>>read_file\n{"path":"a"}')],
    ['>>> read_file\n{"path":"a"}', text('>>> read_file\n{"path":"a"}')],
    ['>>>all\nx\n>>>read_file\n{"path":"a"}\n>>>all\ny', called('x\ny')],
    ['x\n>>>all\ny', text('x\n>>>all\ny')],
  ],
});

check('R-LLM-59', {
  'K1: end-of-turn tokens with nothing behind are hidden': [
    ...['<|im_end|>', '<|eot_id|>', '<|return|>\n<|endoftext|> ', '<｜end▁of▁sentence｜>', '<|end_of_sentence|>'].map(
      (token) => [`x${token}`, text('x')] as const,
    ),
    ...['<seed:eos>', '<|END_OF_TURN_TOKEN|>', '<|observation|>'].map((token) => [`x${token}`, text('x')] as const),
    ['x<|im_end|> y', text('x<|im_end|> y')],
    ['```\nx\n```<|im_end|>', text('```\nx\n```')],
    ['`<|im_end|>`', text('`<|im_end|>`')],
  ],
  'K2: orphan closers are hidden behind a block and at the end': [
    [`${call}\n</function>\n</tool_call> x </tool_call> y`, called('x </tool_call> y')],
    ['x </function>\n</tool_call>', text('x')],
    ['</tool_call> x', text('</tool_call> x')],
    [`> ${call}`, text(`> ${call}`)],
    ['x <|tool_calls_section_end|><|im_end|>', text('x')],
  ],
  'K3: headers without a recipient are hidden, and their text goes where it belongs': [
    ['<|start|>assistant<|channel|>final<|message|>x <b>y</b><|return|>', text('x <b>y</b>')],
    ['<|channel|>commentary<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>y', text('xy')],
    [`<|channel|>final<|message|>\`\`\`\n${call}\n\`\`\`<|end|>`, text(`\`\`\`\n${call}\n\`\`\``)],
  ],
  'K4: framing tokens are hidden unless protected': [
    ['<|START_RESPONSE|>x<|END_RESPONSE|>', text('x')],
    ['the `<|START_TEXT|>` token', text('the `<|START_TEXT|>` token')],
  ],
  'K5: a stray closer of thinking makes what stands before it a draft, unless nothing follows': [
    [`a ${call} b</think> c`, text('a b c')],
    [`a ${bad}</think> c`, text('a c')],
    [`a ${call}\n</think>\n`, called('a')],
    [`a ${call}</think></tool_call><|im_end|>`, called('a')],
    [`a ${call} b</think>`, text('a b')],
    [`a ${bad}</think>`, dropped('a')],
    [`${call}[/THINK]${call}`, called()],
    ['<tool_call><function=read_file><parameter=path>\n</parameter></function></tool_call></think>a', text('a')],
    [`x <think>y</think> ${call} z`, called('x <think>y</think> z')],
    ['The `</think>` tag', text('The `</think>` tag')],
  ],
});

test('R-LLM-59: K3: analysis is thinking, whatever it leaves open', () => {
  const header = '<|channel|>analysis<|message|>';
  const callText = '<|start|>assistant<|channel|>commentary to=functions.read_file<|message|>{"path":"a"}';
  expect(rescued(`${header}a \`\`\`\nb<|end|>${callText}`)).toEqual(['', [found], false, 'a ```\nb']);
  expect(rescued(`${header}a\n\`\`\`\nb<|end|>${callText}`)).toEqual(['', [found], false, 'a\n```\nb']);
  expect(rescued(`${header}a ${callText}`)).toEqual(['', [found], false, 'a']);
});

test('R-LLM-60: R1: thinking at the very start, in every tag, is thinking', () => {
  for (const [open, close] of [
    ['<think>', '</think>'],
    ['<thinking>', '</thinking>'],
    ['<seed:think>', '</seed:think>'],
    ['<mm:think>', '</mm:think>'],
    ['[THINK]', '[/THINK]'],
    ['<|START_THINKING|>', '<|END_THINKING|>'],
  ]) {
    expect(rescued(` \n${open}a${close}\n\nb`, { offered: [] })).toEqual(['b', [], false, 'a']);
    expect(rescued(`${open}a`)).toEqual(['', [], false, 'a']);
    expect(rescued(`x ${open}a${close}`)).toEqual([`x ${open}a${close}`, [], false, '']);
  }
});

test('R-LLM-60: R2, R3: only blocks at the very end of thinking may be calls, and only when nothing else came', () => {
  const thinking = `a ${call} b ${call}\n</tool_call> ${call} `;
  expect(rescued('', { thinking })).toEqual(['', [found, found], false, `a ${call} b`]);
  expect(rescued(' \n', { thinking })[1]).toHaveLength(2);
  const whole = [`${thinking.trim()}`];
  for (const [content, input, calls, lost] of [
    ['x', {}, 0, false],
    [bad, {}, 0, true],
    [call, {}, 1, false],
    ['', { structured: [{ name: 'list_dir', input: {} }] }, 0, false],
  ] as const) {
    const [, found, dropped, shown] = rescued(content, { ...input, thinking });
    expect([content, found.length, dropped, shown]).toEqual([content, calls, lost, ...whole]);
  }
  expect(rescued('', { thinking: `a ${call} b` })).toEqual(['', [], false, `a ${call} b`]);
  expect(rescued(`<think>a ${call}</think>`)).toEqual(['', [found], false, 'a']);
  expect(rescued(`<think>a ${call}`)).toEqual(['', [found], false, 'a']);
});

test('R-LLM-60: R3: a cut block at the end of thinking is asked for again; a bare object and a quoted call are thinking', () => {
  const cut = '<tool_call>{"name":"read_file"';
  expect(rescued('', { thinking: `a ${cut}` })).toEqual(['', [], true, 'a']);
  expect(rescued('b', { thinking: `a ${cut}` })).toEqual(['b', [], false, `a ${cut}`]);
  expect(rescued('', { thinking: json })).toEqual(['', [], false, json]);
  expect(rescued('', { thinking: `\`${call}\`` })).toEqual(['', [], false, `\`${call}\``]);
});

test('R-LLM-63: M1: a call that came structured too is discarded, others stand behind it, and blocks stay hidden', () => {
  const other = '<tool_call>{"name":"list_dir"}</tool_call>';
  const structured = [{ name: 'read_file', input: { path: 'a' } }];
  expect(rescued(`a ${call}${other}${call} b`, { structured })).toEqual(['a b', [['list_dir', {}]], false, '']);
  expect(rescued(bad, { structured })).toEqual(['', [], true, '']);
});

test('R-LLM-63: without offered tools nothing is a call, and thinking and control tokens are still told apart', () => {
  const input = { offered: [] };
  expect(rescued(`<think>x</think>a ${call} b<|im_end|>`, input)).toEqual([`a ${call} b`, [], false, 'x']);
  expect(rescued('<tool_c', input)).toEqual(['<tool_c', [], false, '']);
  expect(rescued(json, input)).toEqual([json, [], false, '']);
  const harmony = '<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>y<|return|>';
  expect(rescued(harmony, input)).toEqual(['y', [], false, 'x']);
});
