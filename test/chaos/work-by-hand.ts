import type { Outgoing } from '../../hub-client/outgoing.ts';
import type { FrameOf, FrameType } from '../../protocol/index.ts';
import { pause, type Stage, say } from './stage.ts';

type Offer = FrameOf<'task.assign'>;

/** Takes tasks frame by frame, and does what `serveTasks` would not: declines, gives back, hands in late, leaves with work in hand. */
export async function workByHand(stage: Stage): Promise<void> {
  const { client, leaving, random } = stage;
  const given = new Set<string>();
  client.on('task.assign', (offer) => {
    const { task_id, attempt = 1 } = offer;
    void play(stage, offer, () => given.has(`${task_id}/${attempt}`));
  });
  client.on('task.cancel', ({ task_id, attempt, from }) => {
    given.add(`${task_id}/${attempt ?? ''}`);
    if (from !== 'hub' && attempt !== undefined && random.chance(0.5)) {
      void say(stage, { type: 'task.result', to: 'hub', task_id, attempt, payload: result(stage, attempt) });
    }
  });
  await new Promise<void>((resolve) => {
    if (leaving.aborted) resolve();
    leaving.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function play(stage: Stage, offer: Offer, over: () => boolean): Promise<void> {
  const { random } = stage;
  const { attempt = 1 } = offer;
  const tell = <T extends FrameType>(type: T, payload: NonNullable<Outgoing<T>['payload']>) =>
    say(stage, { type, to: 'hub', task_id: offer.task_id, attempt, payload });
  try {
    await pause(stage, 0, 40);
    if (random.chance(0.25)) return void (await tell('task.decline', { reason: 'not now' }));
    // Work without an accept is as good as one.
    if (random.chance(0.8) && !(await tell('task.accept', {}))) return;
    for (let step = random.int(4); step >= 0; step -= 1) {
      await pause(stage, 5, 60);
      if (over() && random.chance(0.5)) return;
      await tell('task.progress', { pct: 10 * step, ...(random.chance(0.5) && { checkpoint: { step } }) });
      if (random.chance(0.3)) await tell('task.event', { event: { type: 'stepped', step } });
    }
    if (random.chance(0.1)) return stage.leave();
    if (random.chance(0.25)) {
      await tell('task.release', { reason: 'too much' });
      // Late: the attempt is over.
      if (random.chance(0.7)) await tell('task.result', result(stage, attempt));
      return;
    }
    await tell('task.result', result(stage, attempt));
  } catch {
    // It leaves; what it has in hand goes with it.
  }
}

function result({ actor, key }: Stage, attempt: number) {
  return { status: 'success' as const, summary: `${actor.name}.${key}/${attempt}`, artifacts: [], issues: [] };
}
