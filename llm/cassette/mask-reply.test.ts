import { expect, test } from 'vitest';
import { createMasker } from '../../base/mask.ts';
import { type KeptReply, maskReply } from './mask-reply.ts';
import { saidIn } from './said.ts';

const secret = 'plain/swordfish-993"1';
const masker = createMasker([secret]);
const reading = { offered: new Set(['read']), types: {}, model: 'big' };

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (one: object) => event({ choices: [{ index: 0, delta: one }] });
const call = (one: object, name?: string, text = '') =>
  delta({ tool_calls: [{ ...one, function: { ...(name && { name }), arguments: text } }] });
const tail = `${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`;

/** A text of two pieces, as a provider may cut it. */
const shapes: Record<string, (one: string, two: string) => string> = {
  'one field': (one, two) => delta({ content: one }) + delta({ content: two }),
  'no blank line': (one, two) => delta({ content: one }).slice(0, -1) + delta({ content: two }),
  'a line separator in an event': (one, two) => delta({ content: `\u2028${one}` }) + delta({ content: `${two}\u2028` }),
  'names of thinking': (one, two) =>
    delta({ reasoning: one }) + delta({ reasoning_content: two }) + delta({ content: 'x' }),
  'message, then delta': (one, two) =>
    event({ choices: [{ index: 0, message: { content: one } }] }) + delta({ content: two }),
  'a choice without a number': (one, two) =>
    event({ choices: [{ index: 1, delta: {} }, { delta: { content: one } }] }) + delta({ content: two }),
  'string, then parts': (one, two) => delta({ content: one }) + delta({ content: [{ type: 'text', text: two }] }),
  'two parts': (one, two) => delta({ content: [one, two].map((text, index) => ({ type: 'text', text, index })) }),
  'text, then refusal': (one, two) => delta({ content: one }) + delta({ refusal: two }),
  'thinking, then text': (one, two) => delta({ reasoning: one }) + delta({ content: two }),
  'a control token between': (one, two) => delta({ content: `${one}<|channel|>final<|message|>${two}` }),
  'the second choice': (one, two) =>
    [one, two].map((text) => event({ choices: [{ index: 1, delta: { content: text } }] })).join('') +
    delta({ content: 'x' }),
};
/** The JSON of a call's arguments in two pieces. */
const calls: typeof shapes = {
  'one call': (one, two) => call({ index: 0, id: 'a' }, 'read', one) + call({ index: 0 }, undefined, two),
  'a number, then none': (one, two) => call({ index: 1, id: 'a' }, 'read', one) + call({}, undefined, two),
  'one id, another number': (one, two) =>
    call({ index: 0, id: 'a' }, 'read', one) + call({ index: 1, id: 'a' }, undefined, two),
  'function_call, then tool_calls': (one, two) =>
    delta({ function_call: { name: 'read', arguments: one } }) + call({ index: 0 }, undefined, two),
  'two calls by turns': (one, two) =>
    call({ index: 0, id: 'a' }, 'read', one) +
    call({ index: 1, id: 'b' }, 'read', '{"b":"x') +
    call({ index: 0 }, undefined, two) +
    call({ index: 1 }, undefined, 'y"}'),
};

const ends = { whole: tail, 'cut off': '', failed: event({ error: { message: 'it broke', code: 'server_error' } }) };

/** The texts of a kept reply, as it stands in the file and as it is read; each with and without its escapes. */
function traces(body: string, { chunks }: KeptReply): string {
  const kept = chunks === undefined ? body : chunks.map(([, text]) => text).join('');
  const { error, ...said } = saidIn(kept, reading);
  const texts = [kept, error?.message ?? '', said.text, said.thinking, said.received, JSON.stringify(said.reply ?? '')];
  return [...texts, ...texts.map((text) => text.replaceAll('\\', ''))].join('\n');
}

test.each(Object.entries(ends))(
  'R-LLM-86: a secret cut anywhere, in any way, is not in a reply that is %s',
  (_, end) => {
    const leaks: string[] = [];
    const look = (name: string, text: string, bodyOf: (one: string, two: string) => string) => {
      for (let at = 1; at < text.length; at += 1) {
        const [one, two] = [text.slice(0, at), text.slice(at)];
        const body = bodyOf(one, two) + end;
        const cut: [number, string][] = [
          [1, body.slice(0, 60)],
          [2, body.slice(60)],
        ];
        const kept = maskReply(cut, reading, masker);
        const left = traces(body, kept);
        // where the cut lies in the middle, neither piece may be left
        const halves = text === secret && at > 6 && at < 15 ? [one, two] : [];
        if ([secret, ...halves].some((part) => left.includes(part))) leaks.push(`${name} at ${at}`);
        if (
          end === tail &&
          saidIn(kept.chunks?.map(([, piece]) => piece).join('') ?? body, reading).reply === undefined
        )
          leaks.push(`${name} at ${at}: no reply is left`);
      }
    };
    for (const [name, bodyOf] of Object.entries(shapes)) look(name, secret, bodyOf);
    for (const [name, bodyOf] of Object.entries(calls)) look(name, JSON.stringify({ path: secret }), bodyOf);
    expect(leaks).toEqual([]);
  },
);

test('R-LLM-86: a reply written anew keeps what its reader made of it, but the secrets', () => {
  const usage = { prompt_tokens: 9, completion_tokens: 4, credits: 2 };
  const text = 'so <tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>';
  const body =
    delta({ reasoning: `one ${secret.slice(0, 9)}` }) +
    delta({ reasoning_content: `${secret.slice(9)} two` }) +
    delta({ content: text }) +
    event({ choices: [], usage }) +
    tail;
  const { chunks } = maskReply([[3, body]], reading, masker);
  const again = (chunks ?? []).map(([, piece]) => piece).join('');
  const { reply: before } = saidIn(body, reading);
  const { reply: after } = saidIn(again, reading);
  expect(after).toMatchObject({
    content: before?.content,
    reasoning: 'one *** two',
    calls: [{ name: 'read', input: { path: 'a' }, origin: 'rescued' }],
    finish: 'tool_calls',
    usage: before?.usage,
  });
});

test('R-LLM-86: a reply without secrets, and chunks whose bytes alone held one, stay as they came', () => {
  const plain = delta({ content: 'nothing' }) + tail;
  expect(maskReply([[1, plain]], reading, masker)).toEqual({ good: true });
  const [one, two] = ['sword', 'fish-9931'];
  const simple = createMasker([one + two]);
  const body = delta({ content: `a ${one + two} b` });
  const cut = body.indexOf(two);
  const kept = maskReply(
    [
      [1, body.slice(0, cut)],
      [2, body.slice(cut)],
      [3, tail],
    ],
    reading,
    simple,
  );
  expect(kept.chunks).toEqual([
    [1, body.slice(0, cut).replace(one, '***')],
    [2, body.slice(cut).replace(two, '')],
    [3, tail],
  ]);
});

test('R-LLM-86: secrets that only JSON hides are taken out of answers that are no stream', () => {
  const hidden = [...secret].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  const bodies = [
    `{"error":{"message":"${hidden}","code":"quota"}}`,
    `{"choices":[{"message":{"content":"see ${hidden}"},"finish_reason":"stop"}]}`,
    JSON.stringify({
      choices: [{ message: { content: [secret.slice(0, 9), secret.slice(9)].map((text) => ({ text })) } }],
    }),
    JSON.stringify({ error: { message: secret.slice(0, 9), type: secret.slice(9) } }),
    `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"read","arguments":"{\\"a\\": ${hidden.replaceAll('\\', '\\\\')}"}}]}}]}\n\n${tail}`,
  ];
  for (const body of bodies) {
    const kept = maskReply([[1, body]], reading, masker);
    expect(kept.chunks?.length).toBeGreaterThan(0);
    expect(traces(body, kept)).not.toContain(secret);
    expect(JSON.stringify(kept)).not.toContain('u0073');
  }
});
