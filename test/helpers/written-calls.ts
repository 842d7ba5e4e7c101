/** A call as it is meant; the first value of each is a string. */
export interface MeantCall {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

type Write = (calls: readonly MeantCall[]) => string;

/** `<prefix:tag name="…">body</prefix:tag>`. */
export function tag(name: string, attributes: string, body: string): string {
  return `<${name}${attributes}>${body}</${name}>`;
}

/** A call in `<invoke>` form, with a prefix for its tags. */
export function invoke({ name, input }: MeantCall, prefix = '', typed = ''): string {
  const parameters = Object.entries(input).map(([key, value]) =>
    tag(`${prefix}parameter`, ` name="${key}"${typed}`, value),
  );
  return tag(`${prefix}invoke`, ` name="${name}"`, `\n${parameters.join('\n')}\n`);
}

/** A call in `<function=…>` form. */
export function functionTag({ name, input }: MeantCall): string {
  const parameters = Object.entries(input).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`);
  return `<function=${name}>\n${parameters.join('')}</function>`;
}

const json = ({ name, input }: MeantCall, key = 'arguments') => JSON.stringify({ name, [key]: input });
const list = (calls: readonly MeantCall[], key?: string) => `[${calls.map((call) => json(call, key)).join(', ')}]`;
const python = ({ name, input }: MeantCall) =>
  `${name}(${Object.entries(input)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(', ')})`;
const glm = ({ name, input }: MeantCall, gap: string) => {
  const pairs = Object.entries(input).map(
    ([key, value]) => tag('arg_key', '', key) + gap + tag('arg_value', '', value),
  );
  return tag('tool_call', '', name + pairs.map((pair) => gap + pair).join('') + gap);
};
const each = (write: (call: MeantCall, at: number) => string, gap = ''): Write => {
  return (calls) => calls.map(write).join(gap);
};
const within = (opener: string, write: Write, closer: string): Write => {
  return (calls) => opener + write(calls) + closer;
};

/** Each native format as a model writes it. `whole` = it counts only as the whole message. */
export const formats: Readonly<Record<string, { readonly write: Write; readonly whole?: boolean }>> = {
  hermes: { write: each((call) => tag('tool_call', '', `\n${json(call)}\n`), '\n') },
  'hermes list': { write: within('<tool_call>', list, '</tool_call>') },
  'qwen3-coder': { write: each((call) => tag('tool_call', '', `\n${functionTag(call)}\n`), '\n') },
  'qwen3-coder in one': { write: within('<tool_call>\n', each(functionTag, '\n'), '\n</tool_call>') },
  'qwen3-coder bare': { write: each(functionTag, '\n') },
  'functionary v3.1': { write: each(({ name, input }) => `<function=${name}>${JSON.stringify(input)}</function>`) },
  'deepseek-v3': {
    write: within(
      '<｜tool▁calls▁begin｜>',
      each(
        ({ name, input }) =>
          `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${JSON.stringify(input)}\n\`\`\`<｜tool▁call▁end｜>`,
        '\n',
      ),
      '<｜tool▁calls▁end｜>',
    ),
  },
  'deepseek-v3.1': {
    write: within(
      '<｜tool▁calls▁begin｜>',
      each(
        ({ name, input }) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${JSON.stringify(input)}<｜tool▁call▁end｜>`,
      ),
      '<｜tool▁calls▁end｜>',
    ),
  },
  'deepseek-v3.2': {
    write: (calls) =>
      tag(
        '｜DSML｜function_calls',
        '',
        `\n${calls.map((call) => invoke(call, '｜DSML｜', ' string="true"')).join('\n')}\n`,
      ),
  },
  'kimi-k2': {
    write: within(
      '<|tool_calls_section_begin|>',
      each(
        ({ name, input }, at) =>
          `<|tool_call_begin|>functions.${name}:${at}<|tool_call_argument_begin|>${JSON.stringify(input)}<|tool_call_end|>`,
      ),
      '<|tool_calls_section_end|>',
    ),
  },
  'glm-4.5': { write: each((call) => glm(call, '\n'), '\n') },
  'glm-4.7': { write: each((call) => glm(call, '')) },
  'minimax-m1': { write: (calls) => tag('tool_calls', '', `\n${calls.map((call) => json(call)).join('\n')}\n`) },
  'minimax-m2': {
    write: (calls) => tag('minimax:tool_call', '', `\n${calls.map((call) => invoke(call)).join('\n')}\n`),
  },
  anthropic: { write: (calls) => tag('function_calls', '', `\n${calls.map((call) => invoke(call)).join('\n')}\n`) },
  'anthropic bare, prefixed': { write: each((call) => invoke(call, 'ns:'), '\n') },
  'llama3 tag': {
    write: (calls) => `<|python_tag|>${calls.map((call) => json(call, 'parameters')).join('; ')}<|eom_id|>`,
  },
  'llama3 call': {
    write: (calls) =>
      `<|python_tag|>${calls.map((call) => python({ ...call, name: `${call.name}.call` })).join('; ')}<|eom_id|>`,
  },
  'llama3 bare': { write: each((call) => json(call, 'parameters'), '; '), whole: true },
  xlam: { write: list, whole: true },
  pythonic: { write: (calls) => `[${calls.map(python).join(', ')}]`, whole: true },
  'llama4 tag': { write: (calls) => `<|python_start|>[${calls.map(python).join(', ')}]<|python_end|>` },
  lfm2: { write: (calls) => `<|tool_call_start|>[${calls.map(python).join(', ')}]<|tool_call_end|>` },
  'mistral-v3': { write: within('[TOOL_CALLS]', list, '') },
  'mistral-v11': { write: each(({ name, input }) => `[TOOL_CALLS]${name}${JSON.stringify(input)}`) },
  'mistral with id': {
    write: each(({ name, input }) => `[TOOL_CALLS]${name}[CALL_ID]q7Rt2Lm9X[ARGS]${JSON.stringify(input)}`),
  },
  'mistral-v13': { write: each(({ name, input }) => `[TOOL_CALLS]${name}[ARGS]${JSON.stringify(input)}`) },
  'gpt-oss': {
    write: each(
      ({ name, input }) =>
        `<|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${JSON.stringify(input)}<|call|>`,
    ),
  },
  'gpt-oss, recipient in the role': {
    write: each(
      ({ name, input }) =>
        `<|start|>assistant to=functions.${name}<|channel|>commentary json<|message|>${JSON.stringify(input)}<|call|>`,
    ),
  },
  granite: { write: within('<|tool_call|>', list, '') },
  'granite-20b': { write: each((call) => `<function_call> ${json(call)}`, '\n') },
  internlm: { write: each((call) => `<|action_start|><|plugin|>\n${json(call, 'parameters')}<|action_end|>`) },
  'hunyuan, jamba': { write: within('<tool_calls>', list, '</tool_calls>') },
  step3: {
    write: within(
      '<｜tool_calls_begin｜>',
      each((call) => `<｜tool_call_begin｜>function<｜tool_sep｜>${invoke(call, 'steptml:')}<｜tool_call_end｜>`),
      '<｜tool_calls_end｜>',
    ),
  },
  'seed-oss': { write: each((call) => tag('seed:tool_call', '', `\n${functionTag(call)}\n`), '\n') },
  'phi-4': { write: within('functools', list, '') },
  cohere: {
    write: (calls) => {
      const items = calls.map(({ name, input }, at) => ({ tool_call_id: `${at}`, tool_name: name, parameters: input }));
      return `<|START_ACTION|>${JSON.stringify(items, null, 4)}<|END_ACTION|>`;
    },
  },
  functionary: { write: each(({ name, input }) => `>>>${name}\n${JSON.stringify(input)}`, '\n') },
};
