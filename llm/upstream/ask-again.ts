import { randomUUID } from 'node:crypto';
import type { ModelDelta } from '../../core/model.ts';
import type { Listener } from '../caller.ts';
import { type ChatBody, offeredBy } from '../chat-body.ts';
import type { Reply, ReplyCall } from '../reply.ts';
import type { DroppedCall } from '../rescue/block.ts';
import { UpstreamError } from './errors.ts';

/** How often a call that could not be used is asked for again. */
const AGAIN = 2;

interface Asked {
  readonly body: ChatBody;
  readonly listener: Listener;
}

/**
 * Asks until the reply is one to go on with. One whose only calls cannot be used is none, written as text or without a name: its text is
 * kept, and the model is told to send the call again, in this request alone. After that it is an {@link UpstreamError} `incomplete`. A reply that
 * has other calls too goes on; what could not be used becomes a broken call in it, which the model reads about like about any other.
 */
export async function untilUsable<T extends Asked>(call: T, ask: (call: T) => Promise<Reply>): Promise<Reply> {
  let reply = await ask(call);
  let kept = '';
  for (let again = 1; reply.dropped.length > 0 && reply.calls.length === 0; again += 1) {
    if (again > AGAIN) throw unusable(reply.dropped);
    kept = together(kept, reply.content);
    reply = await ask(withNote(call, reply, kept));
  }
  const broken = reply.dropped.map(asBroken);
  return { ...reply, content: together(kept, reply.content), calls: [...reply.calls, ...broken], dropped: [] };
}

function withNote<T extends Asked>(call: T, reply: Reply, kept: string): T {
  const { body, listener } = call;
  const said = kept === '' ? [] : [{ role: 'assistant', content: kept }];
  const messages = [...body.messages, ...said, { role: 'user', content: noteOf(reply, body) }];
  return {
    ...call,
    body: { ...body, ...(reply.finish === 'length' && withMoreRoom(body)), messages },
    ...(kept === '' ? {} : { listener: goingOn(listener, kept) }),
  };
}

/** What was said before the note is shown before what is said after it. */
function goingOn(listener: Listener, kept: string): Listener {
  let gap = '\n';
  return {
    onRestart: () => {
      gap = '\n';
      listener.onRestart?.();
      listener.onDelta?.({ kind: 'text', text: kept });
    },
    onDelta: (delta: ModelDelta) => {
      listener.onDelta?.(delta.kind === 'text' ? { ...delta, text: gap + delta.text } : delta);
      if (delta.kind === 'text') gap = '';
    },
  };
}

function noteOf({ dropped, finish }: Reply, body: ChatBody): string {
  const reasons = [...new Set(dropped.map((one) => reasonOf(one)))].join(', and ');
  const tools = dropped.some(({ reason }) => reason === 'unknown_tool' || reason === 'nameless')
    ? ` The tools are: ${[...offeredBy(body)].join(', ')}.`
    : '';
  const shorter = finish === 'length' ? ' Write less at a time, a long text in several calls.' : '';
  return `Your last tool call was not executed: ${reasons}.${tools}${shorter} Send it again, whole, as a tool call${dropped.every(isStructured) ? '' : ' and not as text'}.`;
}

function reasonOf({ name, reason }: DroppedCall): string {
  const call = name === undefined ? 'the call' : `the call of "${name}"`;
  switch (reason) {
    case 'cut_off':
      return `${call} was cut off`;
    case 'invalid':
      return `${call} is not well-formed, or its arguments are no JSON object`;
    case 'nameless':
      return `${call} names no tool`;
    case 'unknown_tool':
      return `there is no tool "${name}"`;
    default:
      return reason satisfies never;
  }
}

function isStructured({ reason }: DroppedCall): boolean {
  return reason === 'nameless';
}

/** A limit of the request that cut the reply is raised for another try. */
function withMoreRoom(body: ChatBody): Partial<ChatBody> {
  return typeof body.max_tokens === 'number' ? { max_tokens: body.max_tokens * 2 } : {};
}

function unusable(dropped: readonly DroppedCall[]): UpstreamError {
  const formats = [...new Set(dropped.map(({ format }) => format))].join(', ');
  const what = `the model's tool call cannot be used (${formats}: ${dropped.map(reasonOf).join(', ')})`;
  return new UpstreamError('incomplete', `${what}, ${AGAIN + 1} times in a row`, { retryable: false });
}

function asBroken(dropped: DroppedCall): ReplyCall {
  const { name = 'unreadable_call', reason } = dropped;
  const broken = brokenBy(reason);
  // no JSON, so that nobody takes it for arguments
  const raw = `(${broken})`;
  return {
    id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    name,
    input: {},
    raw,
    origin: reason === 'nameless' ? 'native' : 'rescued',
    broken,
  };
}

function brokenBy(reason: DroppedCall['reason']): string {
  if (reason === 'nameless') return 'it names no tool';
  return reason === 'cut_off' ? 'it was cut off' : 'it was not written as a tool call';
}

function together(kept: string, more: string): string {
  return kept === '' || more === '' ? kept + more : `${kept}\n${more}`;
}
