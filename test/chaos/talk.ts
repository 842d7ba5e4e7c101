import { actors, plainName } from './cast.ts';
import { pause, type Stage, say } from './stage.ts';

/** Messages of one agent that wait to be accepted. */
const MOST = 8;

/** Every agent sends messages: most to one name, some to a role or to everybody. Ends when the client is to leave. */
export async function talk(stage: Stage): Promise<void> {
  const { random, client } = stage;
  const waiting = new Set<Promise<boolean>>();
  for (let number = 1; !stage.leaving.aborted; number += 1) {
    await pause(stage, 20, 120).catch(() => undefined);
    if (stage.quiet() || stage.leaving.aborted) continue;
    if (waiting.size >= MOST) await Promise.race(waiting);
    const payload = { number, pad: 'x'.repeat(random.chance(0.02) ? random.int(60_000) : random.int(200)) };
    const sent = say(stage, { type: 'route', to: target(stage), payload });
    waiting.add(sent);
    void sent.finally(() => waiting.delete(sent));
    if (random.chance(0.02)) client.agents().catch(() => undefined);
  }
  await Promise.allSettled(waiting);
}

function target({ random, actor }: Stage): string {
  const chosen = random.next();
  if (chosen < 0.04) return '*';
  if (chosen < 0.08) return `role:${random.pick(actors).roles[0]}/*`;
  if (chosen < 0.15) return `role:${random.pick(actors).roles[0]}`;
  if (chosen < 0.2) return plainName;
  return random.pick(actors.filter(({ name }) => name !== actor.name)).name;
}
