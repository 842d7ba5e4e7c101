import { z } from 'zod';
import { type Answer, Refusal, type Route } from './http.ts';

/** What a model of the platform is asked. */
export type PlatformRequest = z.infer<typeof Request>;

/** What it says: a text, tool calls or both. */
export interface PlatformReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
}

const Request = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string() })),
  stream: z.boolean().default(false),
});

/** Who plays the platform's models; undefined = there is no model of this name. */
export type PlatformModel = (request: PlatformRequest) => PlatformReply | undefined;

/** The two chat endpoints of the platform's own models. The second streams alone, and has the oddities that clients met there. */
export function modelRoutes(player: () => PlatformModel | undefined): readonly Route[] {
  const play: PlatformModel = (request) => (player() ?? (() => ({ text: 'ok' })))(request);
  return [
    {
      method: 'POST',
      path: 'ai/chat/completions',
      scope: 'repo-code:r',
      handle: (call) => {
        const request = call.read(Request);
        // whatever model is named, it is the same one
        const { text = '' } = play(request) ?? { text: 'ok' };
        if (request.stream) return stream([chunk({ role: 'assistant', content: text }), chunk({}, 'stop')]);
        const message = { role: 'assistant', content: text };
        return {
          status: 200,
          body: { id: 'chat-1', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] },
        };
      },
    },
    {
      method: 'POST',
      path: 'ai-ide/v2/chat/completions',
      scope: 'repo-code:r',
      handle: (call) => {
        const request = call.read(Request);
        if (!request.stream) throw new Refusal(400, 3, 'stream only');
        const reply = play(request);
        if (reply === undefined) {
          const what = `model [${request.model}] is not supported`;
          return { status: 400, body: { code: 11102, msg: what, displayMsg: what } };
        }
        const { text = '', calls = [] } = reply;
        return stream([
          chunk({ role: 'assistant', content: text, tool_calls: null, extra: null }, ''),
          // Every call claims to be the first.
          ...calls.map(({ name, arguments: text }, id) =>
            chunk(
              {
                content: null,
                tool_calls: [{ index: 0, id: `call-${id}`, type: 'function', function: { name, arguments: text } }],
              },
              '',
            ),
          ),
          { ...chunk({ content: '' }, calls.length > 0 ? 'tool_calls' : 'stop'), usage },
        ]);
      },
    },
  ];
}

/** Each answer says what it took. */
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, credit: 0.25 };

function chunk(delta: Readonly<Record<string, unknown>>, finish: string | null = null) {
  return {
    id: 'chat-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
    usage: null,
  };
}

function stream(chunks: readonly unknown[]): Answer {
  const text = [...chunks.map((one) => JSON.stringify(one)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
  return { status: 200, bytes: Buffer.from(text), headers: { 'content-type': 'text/event-stream' } };
}
