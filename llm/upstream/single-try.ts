import { estimateTokens } from '../../base/estimate-tokens.ts';
import { cutLines } from '../../base/line-cutter.ts';
import { ModelError } from '../../core/model.ts';
import type { Caller, Listener } from '../caller.ts';
import { type ChatBody, offeredBy, textsOf, typesBy } from '../chat-body.ts';
import type { Ledger, UsageEvent } from '../money/ledger.ts';
import type { ModelFacts } from '../money/model-facts.ts';
import type { Told } from '../money/spending.ts';
import { ReplyReader } from '../reader/reply-reader.ts';

import type { Reply } from '../reply.ts';
import type { Endpoint } from './endpoint.ts';

/** What one try needs from the gateway. */
export interface TryServices {
  readonly ledger: Ledger;
  readonly facts: ModelFacts;
  readonly mask: (text: string) => string;
  readonly record: (event: UsageEvent, taskId: string) => Promise<void>;
  readonly onThinking: (caller: Caller, line: string) => void;
}

export interface Try {
  /** The request as it was meant; its tools are those that a reply may call. */
  readonly asked: ChatBody;
  /** The request as it is sent. */
  readonly body: ChatBody;
  readonly caller: Caller & { readonly turn: number };
  readonly signal: AbortSignal;
  readonly listener: Listener;
  readonly onHeaders?: (headers: Headers) => void;
  /** The level of the budget that the body tells. */
  readonly told?: Told | undefined;
}

/** Sends one request once. It is in the ledger and in the log, whatever came of it, before this settles. */
export async function tryOnce(endpoint: Endpoint, one: Try, services: TryServices): Promise<Reply> {
  const { caller, listener } = one;
  listener.onRestart?.();
  const thinking = cutLines((line) => services.onThinking(caller, services.mask(line)));
  const reader = new ReplyReader({
    offered: offeredBy(one.asked),
    types: typesBy(one.asked),
    onDelta: (delta) => {
      if (delta.kind === 'thinking') thinking.push(delta.text);
      listener.onDelta?.(delta);
    },
  });
  const started = performance.now();
  let cached = false;
  const settle = async (outcome: Outcome) => {
    thinking.end();
    const ms = Math.round(performance.now() - started);
    const used = usageEvent(one, outcome, reader.received(), ms);
    const event = cached ? asCached(used) : used;
    await settleTry({ ...event, ...paymentOf(event, endpoint, services.facts) }, caller.taskId, services);
  };
  let reply: Reply;
  try {
    reply = await endpoint.send(one.body, {
      reader,
      signal: one.signal,
      taped: {
        ...{ body: one.asked, caller: one.caller },
        onCached: () => {
          cached = true;
        },
      },
      headers: endpoint.loopback ? stepHeaders(one.caller, services.ledger) : {},
      onAlive: () => listener.onDelta?.({ kind: 'alive' }),
      ...(one.onHeaders && { onHeaders: one.onHeaders }),
    });
  } catch (error) {
    await settle({ error });
    throw error;
  }
  await settle({ reply });
  return reply;
}

type Outcome = { readonly reply: Reply } | { readonly error: unknown };

async function settleTry(event: UsageEvent, taskId: string, services: TryServices): Promise<void> {
  services.ledger.add(event, taskId);
  try {
    await services.record(event, taskId);
  } catch (cause) {
    throw new ModelError(
      'server',
      'The model call could not be written to the message log, so its reply was not used. Check the disk of the state folder.',
      { retryable: false, cause },
    );
  }
}

function usageEvent({ body, caller, told }: Try, outcome: Outcome, received: string, ms: number): UsageEvent {
  const { role, agent, attempt, turn } = caller;
  const ok = 'reply' in outcome;
  const usage = ok ? outcome.reply.usage : null;
  const counted = usage?.input != null && usage.output != null;
  // a try that was refused before it began costs nothing
  const unknown = !counted && (ok || received !== '');
  return {
    type: 'usage.recorded',
    ...{ role, agent, attempt, turn, model: body.model, ok, usage, ms },
    ...(unknown ? { estimate: estimateOf(body, received) } : {}),
    ...(told && { told }),
    ...(ok && leaksOf(outcome.reply)),
    ...(ok ? {} : { error: outcome.error instanceof ModelError ? outcome.error.kind : 'cancelled' }),
  };
}

/** Nobody was asked, so that nothing is paid. */
function asCached({ usage: _, estimate: __, ...event }: UsageEvent): UsageEvent {
  return { ...event, usage: null, cached_reply: true };
}

/** Calls that came as text, by format, and were read; and those that could not be used, `structured` ones without a name too. */
function leaksOf({ calls, dropped }: Reply): Pick<UsageEvent, 'rescued' | 'dropped'> {
  const rescued = countBy(calls.flatMap(({ format }) => format ?? []));
  const lost = countBy(dropped.map(({ format }) => format));
  return { ...(rescued && { rescued }), ...(lost && { dropped: lost }) };
}

function countBy(formats: readonly string[]): Record<string, number> | undefined {
  const counts: Record<string, number> = {};
  for (const format of formats) counts[format] = (counts[format] ?? 0) + 1;
  return formats.length === 0 ? undefined : counts;
}

/** What a try cost, where it used something and the price is known, or that credits paid for it. */
function paymentOf(
  { model, ok, usage, estimate, cached_reply }: UsageEvent,
  { host, onCredits }: Endpoint,
  facts: ModelFacts,
): Pick<UsageEvent, 'cost' | 'on_credits'> {
  if (cached_reply) return {};
  const input = usage?.input ?? estimate?.input ?? 0;
  const output = usage?.output ?? estimate?.output ?? 0;
  if (!ok && input + output === 0) return {};
  if (onCredits) return { on_credits: true };
  const cost = facts.costOf({ model, host }, { cached: 0, thinking: 0, ...usage, input, output });
  return cost ? { cost } : {};
}

function estimateOf(body: ChatBody, received: string): NonNullable<UsageEvent['estimate']> {
  let input = 0;
  for (const text of textsOf(body)) input += estimateTokens(text);
  return { input, output: estimateTokens(received), cached: 0, thinking: 0 };
}

/** A server on this machine may play a script; it is told which role's which reply is wanted. */
function stepHeaders({ role, taskId, turn }: Try['caller'], ledger: Ledger): Record<string, string> {
  return { 'x-npc-role': role, 'x-npc-step': String(ledger.turnsElsewhere(role, taskId) + turn) };
}
