import type { ChatBody } from '../chat-body.ts';
import type { Reply } from '../reply.ts';
import { hasCalls } from './shape-messages.ts';

/** So many calls are remembered. */
const REMEMBERED = 2000;

interface Marks {
  readonly signature: string | undefined;
  readonly reasoning: string;
}

/**
 * What a provider wants back with its calls (Gemini's signatures, thoughts), remembered by the ids of the calls, since programs of
 * others drop what they do not know.
 */
export class CallMarks {
  readonly #marks = new Map<string, Marks>();

  remember({ calls, reasoning }: Reply): void {
    for (const [at, { id, signature }] of calls.entries()) {
      if (signature === undefined && reasoning === '') continue;
      this.#marks.set(id, { signature, reasoning: at === 0 ? reasoning : '' });
    }
    for (const id of this.#marks.keys()) {
      if (this.#marks.size <= REMEMBERED) return;
      this.#marks.delete(id);
    }
  }

  /** The messages with what their calls had. */
  restore(messages: ChatBody['messages']): ChatBody['messages'] {
    if (this.#marks.size === 0) return messages;
    return messages.map((message) => {
      if (!hasCalls(message)) return message;
      const tool_calls = message.tool_calls.map((call) => {
        const signature = this.#marks.get(call.id ?? '')?.signature;
        if (signature === undefined || call.extra_content !== undefined) return call;
        return { ...call, extra_content: { google: { thought_signature: signature } } };
      });
      const reasoning = this.#marks.get(message.tool_calls[0]?.id ?? '')?.reasoning ?? '';
      return {
        ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...message,
        tool_calls,
      };
    });
  }
}
