import type { ToolOffer } from '../../core/model.ts';
import type { AssistantTurn, Turn } from '../../protocol/index.ts';
import type { Gateway } from '../gateway.ts';
import { takeAttempt } from '../gateway-model.ts';
import { isObject, parseJson } from '../upstream/errors.ts';

/** A reply, and how it came; times in ms since the question. */
export interface Asked {
  readonly turn: AssistantTurn;
  /** Pieces that came at different times. */
  readonly deltas: number;
  readonly firstMs: number;
  readonly ms: number;
}

/** Asks through a gateway of the doctor; `turn` numbers the question. */
export function asker(gateway: Gateway, processToken: string, turn: number) {
  return {
    async turns(turns: readonly Turn[], tools: readonly ToolOffer[], signal: AbortSignal): Promise<Asked> {
      const model = gateway.modelFor({ role: 'doctor', agent: 'doctor', taskId: 'doctor' });
      const began = performance.now();
      let deltas = 0;
      let last = 0;
      let firstMs: number | undefined;
      const reply = await model.reply({ turns, tools, choice: 'default', turn }, signal, ({ kind }) => {
        if (kind === 'alive') return;
        const now = performance.now();
        firstMs ??= now - began;
        // pieces of one packet are handed on in the same moment
        if (now - last > 1) deltas += 1;
        last = now;
      });
      const ms = performance.now() - began;
      return { turn: reply, deltas, firstMs: firstMs ?? ms, ms };
    },

    /** Asks for the colour of a picture, as another program would. */
    async picture(url: string, signal: AbortSignal): Promise<{ text: string } | { failed: string }> {
      const { token } = await takeAttempt({ url: gateway.url, processToken, taskId: 'doctor', attempt: 1, signal });
      const content = [
        { type: 'text', text: 'What colour is this picture? Answer with one word.' },
        { type: 'image_url', image_url: { url } },
      ];
      const response = await fetch(`${gateway.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-npc-turn': String(turn) },
        body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content }] }),
        signal,
      });
      const body = parseJson(await response.text());
      if (!response.ok) return { failed: messageIn(body) };
      return { text: textIn(body) };
    },
  };
}

function messageIn(body: unknown): string {
  const error = isObject(body) ? body.error : undefined;
  return isObject(error) && typeof error.message === 'string' ? error.message : 'it was refused';
}

function textIn(body: unknown): string {
  const [choice] = isObject(body) && Array.isArray(body.choices) ? body.choices : [];
  const message = isObject(choice) ? choice.message : undefined;
  return isObject(message) && typeof message.content === 'string' ? message.content : '';
}
