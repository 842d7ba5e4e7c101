/** Text that makes a careless reader slow, `size` characters of each kind, by what it tries. */
export function hostileTexts(size: number): Readonly<Record<string, string>> {
  const fill = (text: string) => text.repeat(Math.ceil(size / text.length)).slice(0, size);
  return {
    prose: fill('The quick brown fox jumps over a lazy dog, and a < b or c > d. It\'s "fine".\n'),
    brackets: fill('<'),
    'square brackets': fill('['),
    backticks: fill('`'),
    'runs of backticks': fill('` `` ``` ````` '),
    quotes: fill('\'"'),
    'quoted openers': fill('"<tool_call>'),
    openers: fill('<tool_call>'),
    'heads of objects': fill('{"name":'),
    closers: fill('</tool_call>'),
    'end tokens': fill('<|im_end|> x'),
    'tags that may become DSML': fill('< ｜ DSML '),
    'tags that may have a namespace': fill('<abcdefgh:'),
    headers: fill('<|channel|>analysis<|message|>x'),
    'names of calls': fill('[TOOL_CALLS]a'),
    prompts: fill('>>>\n'),
    fences: fill('~~~\n'),
    'fences that are none': fill('``` `\n'),
    'calls that are whole': fill('<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>'),
    'a string that does not end': `<tool_call>{"name":"read_file","arguments":{"a":"${fill('x<')}`,
    'parameters in parameters': `<tool_call><function=read_file><parameter=a>${fill('<parameter=a>')}`,
    'closers that are data': `<tool_call><function=read_file><parameter=a>${fill('</parameter> ')}`,
    'lists in lists': `<tool_call>{"name":"read_file","arguments":${fill('[')}`,
    'white space': `<tool_call>${fill(' ')}`,
    'a long name': `<tool_call>${fill('a')}`,
    'a broken call without a closer': `<tool_call>{"name":x${fill('</tool_cal')}`,
    'a bare call that does not end': `{"name":"read_file","arguments":{"a":"${fill('x<')}`,
  };
}
