import { v7 as uuid } from 'uuid';
import { AppError } from '../../base/errors.ts';
import { type HubClient, wireCode } from '../../hub-client/index.ts';
import type { Frame, FrameType } from '../../protocol/index.ts';
import type { Recorder, SentFrame } from './record.ts';

/** What comes numbered, and is acknowledged once it was handled. */
const numbered = ['route', 'task.input', 'task.answer', 'task.result', 'task.status', 'task.cancel'] as const;

/** A client that writes down what is sent through it, what became of that, and what it hands to its program. */
export function recordedClient(client: HubClient, recorder: Recorder): HubClient {
  for (const type of [...numbered, 'task.assign'] as const) {
    client.on(type, (frame) => recorder.write({ e: 'got', frame: gotFrame(frame) }));
  }
  client.on('event', ({ payload }) => recorder.write({ e: 'saw', lsn: payload.frame.lsn ?? 0 }));
  client.onState((state) => {
    if (state === 'connected') recorder.write({ e: 'session', session: client.session, at: Date.now() });
    else if (typeof state === 'object') recorder.write({ e: 'gap', reason: state.gap.reason });
  });
  recorder.write({ e: 'session', session: client.session, at: Date.now() });
  const send: HubClient['send'] = async (frame) => {
    const id = frame.id ?? uuid();
    recorder.write({ e: 'sends', frame: sentFrame({ ...frame, id }) });
    try {
      await client.send({ ...frame, id });
      recorder.write({ e: 'accepted', id });
      return id;
    } catch (error) {
      recorder.write({ e: 'refused', id, code: codeOf(error) });
      throw error;
    }
  };
  const ask: HubClient['ask'] = (question, options) => {
    const id = question.id ?? uuid();
    const logged = question.type === 'task.input' || question.type === 'route';
    if (logged) recorder.write({ e: 'sends', frame: sentFrame({ ...question, id }) });
    return client.ask({ ...question, id }, options);
  };
  return new Proxy(client, {
    get(target, key) {
      if (key === 'send') return send;
      if (key === 'ask') return ask;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** What the hub, or the client itself, said against a frame. */
export function codeOf(error: unknown): string {
  return wireCode(error) ?? (error instanceof AppError ? error.code : String(error));
}

function gotFrame({ type, id = '', from, task_id, seq, lsn, attempt, redelivered }: Frame) {
  return {
    type,
    id,
    from,
    task_id,
    ...(seq !== undefined && { seq }),
    ...(lsn !== undefined && { lsn }),
    ...(attempt !== undefined && { attempt }),
    ...(redelivered !== undefined && { redelivered }),
  };
}

function sentFrame(frame: {
  type: FrameType;
  id: string;
  to: string;
  task_id?: string;
  payload?: unknown;
  attempt?: number;
  ref?: string;
  once?: boolean;
}): SentFrame {
  const { type, id, to, task_id = '', payload = {}, attempt, ref, once } = frame;
  return {
    type,
    id,
    to,
    task_id,
    payload,
    ...(attempt !== undefined && { attempt }),
    ...(ref !== undefined && { ref }),
    ...(once !== undefined && { once }),
  };
}
