import type { Fault, Step } from './script.ts';

/** About this many characters go into one delta. */
const PIECE = 24;

/** What stands around a reply: its id and model, and its usage where it is reported. */
export interface Frame {
  readonly label: { readonly id: string; readonly model: string; readonly created: number };
  readonly usage: object | null;
}

/** The chunks by which a step's reply is streamed, the usage chunk last. */
export function eventsOf(step: Step, { label, usage }: Frame): object[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...label,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const calls = callsOf(step, label.id);
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(step.thinking).map((text) => chunk({ reasoning_content: text })),
    ...pieces(step.text).map((text) => chunk({ content: text })),
    ...calls.flatMap(({ id, name, json }, index) => [
      chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...pieces(json).map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
    chunk({}, finishOf(step)),
    ...(usage ? [{ ...label, object: 'chat.completion.chunk', choices: [], usage }] : []),
  ];
}

/** A step's reply for a client that does not stream. */
export function completionOf(step: Step, { label, usage }: Frame): object {
  const calls = callsOf(step, label.id).map(({ id, name, json }) => ({
    ...{ id, type: 'function' },
    function: { name, arguments: json },
  }));
  const message = {
    role: 'assistant',
    content: step.text === '' && calls.length > 0 ? null : step.text,
    ...(step.thinking === '' ? {} : { reasoning_content: step.thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...label,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finishOf(step) }],
    ...(usage ? { usage } : {}),
  };
}

/** The step as a fault changes its content; faults of the connection leave it as it is. */
export function withFault({ fault: _, ...step }: Step, fault: Fault | undefined): Step {
  switch (fault?.type) {
    case 'empty':
      return { ...step, text: '', thinking: '', calls: [], finish: 'stop' };
    case 'error_text':
      return { ...step, text: fault.message, thinking: '', calls: [], finish: 'stop' };
    case 'big_reply':
      return { ...step, text: step.text.repeat(Math.ceil(fault.bytes / Math.max(1, step.text.length))), fault };
    case 'cut_arguments':
      return { ...step, finish: 'length', fault };
    default:
      return step;
  }
}

function callsOf(step: Step, reply: string): { id: string; name: string; json: string }[] {
  return step.calls.map((call, index) => {
    const json = JSON.stringify(call.arguments);
    const cut = step.fault?.type === 'cut_arguments' && index === step.calls.length - 1;
    return {
      id: call.id ?? `call_${reply}_${index}`,
      name: call.name,
      json: cut ? json.slice(0, Math.ceil(json.length / 2)) : json,
    };
  });
}

function finishOf(step: Step): string {
  return step.finish ?? (step.calls.length > 0 ? 'tool_calls' : 'stop');
}

/** Longer texts come in larger pieces, so that there are not too many. */
function pieces(text: string): string[] {
  const size = Math.max(PIECE, Math.ceil(text.length / 1000));
  const found: string[] = [];
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = at + size;
    // a character of two halves stays whole
    if (/[\uDC00-\uDFFF]/.test(text[end] ?? '')) end += 1;
    found.push(text.slice(at, end));
  }
  return found;
}
