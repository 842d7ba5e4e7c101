import { messageOf } from '../base/errors.ts';
import { type Model, ModelError } from '../core/model.ts';
import { offeredBy, toChatBody } from './chat-body.ts';
import type { Windows } from './gateway.ts';
import type { Slice } from './money/accounts.ts';
import { ReplyReader } from './reader/reply-reader.ts';
import { toTurn } from './reply.ts';
import { fromWireError } from './server/wire-error.ts';
import { openEndpoint } from './upstream/endpoint.ts';
import { parseJson, UpstreamError } from './upstream/errors.ts';

/** Longest time that a timer takes, ms. */
const LONGEST = 2_147_483_647;

/** Where an agent process finds the run's gateway. */
export interface GatewayAddress {
  /** `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
}

/** A sub-agent of the process, and the part of its parent's budget that it may use. Its name is its parent's, `_` and more. */
export interface SubAgent {
  readonly name: string;
  readonly role?: string;
  readonly slice: Slice;
}

/** What an attempt gets from the gateway. */
export interface TakenAttempt {
  readonly token: string;
  /** Tokens that the contexts of the models hold. */
  readonly windows: Windows;
  /** What a sub-agent was granted: no more than its parent has left. */
  readonly slice?: Slice;
}

/**
 * Trades a process token for what one attempt needs. Rejects with {@link ModelError}: `cancelled` when a newer attempt runs. A sub-agent's
 * slice ends when its task is revoked; what is left of it goes back to its parent.
 */
export async function takeAttempt(
  options: GatewayAddress & {
    processToken: string;
    taskId: string;
    attempt: number;
    subAgent?: SubAgent;
    signal: AbortSignal;
  },
): Promise<TakenAttempt> {
  const { url, processToken, taskId, attempt, subAgent, signal } = options;
  try {
    const response = await fetch(new URL('/npc/attempts', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${processToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ task_id: taskId, attempt, sub_agent: subAgent }),
      signal,
    });
    const body = parseJson(await response.text());
    if (response.ok) return body as TakenAttempt;
    throw fromWireError(body) ?? unreachable(url, `status ${response.status}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ModelError) throw error;
    throw unreachable(url, messageOf(error), error);
  }
}

/** The model as an agent process sees it: the gateway, in the name of one attempt. */
export function openGatewayModel(options: GatewayAddress & { token: string; silenceMs?: number }): Model {
  const { url, token, silenceMs = 60_000 } = options;
  // the gateway sends a sign of life every few seconds; how long a model may take is its affair
  const timeouts = {
    firstByteMs: silenceMs,
    idleMs: silenceMs,
    progressMs: LONGEST,
    replyMs: LONGEST,
    afterFinishMs: LONGEST,
  };
  const endpoint = openEndpoint({ baseURL: url, apiKey: token, timeouts, ours: true });
  return {
    async reply(request, signal, onDelta) {
      const body = toChatBody(request);
      const reader = new ReplyReader({ offered: offeredBy(body), onDelta, ours: true });
      try {
        const reply = await endpoint.send(body, {
          reader,
          signal,
          headers: { 'x-npc-turn': String(request.turn) },
          onAlive: () => onDelta?.({ kind: 'alive' }),
        });
        return toTurn(reply);
      } catch (error) {
        if (!(error instanceof UpstreamError) || error.advised) throw error;
        throw unreachable(url, error.message, error);
      }
    },
  };
}

function unreachable(url: string, what: string, cause?: unknown): ModelError {
  return new ModelError(
    'server',
    `The run's model gateway at ${url} does not answer (${what}); is the run still alive?`,
    {
      retryable: true,
      cause,
    },
  );
}
