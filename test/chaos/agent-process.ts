/** Some agents of the chaos test in one process. They live until they are told to end, or killed. */
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '../../base/log.ts';
import { connectHub, type HubClient } from '../../hub-client/index.ts';
import { type Random, seededRandom } from '../helpers/random.ts';
import type { Actor } from './cast.ts';
import { look } from './look.ts';
import { own } from './own.ts';
import { Recorder, readLife, unsettled } from './record.ts';
import { recordedClient } from './recorded-client.ts';
import { type Stage, say } from './stage.ts';
import { talk } from './talk.ts';
import { work } from './work.ts';
import { workByHand } from './work-by-hand.ts';

/** How the process is started. */
export interface TroupeSetup {
  readonly seed: number;
  /** Number of this process among those of the same agents. */
  readonly life: number;
  /** Where the records are. */
  readonly records: string;
  readonly actors: readonly (Actor & { readonly url: string })[];
  /** A process that is started when all is to come to rest begins nothing new. */
  readonly quiet: boolean;
}

/** What the process is told. */
export type TroupeOrder = { readonly kind: 'quiet' } | { readonly kind: 'end' };

const parts: Readonly<Record<Actor['kind'], (stage: Stage) => Promise<void>>> = {
  owner: own,
  worker: work,
  hand: workByHand,
  talker: look,
};

const setup = JSON.parse(process.argv[2] ?? '') as TroupeSetup;
const ending = new AbortController();
let quiet = setup.quiet;

process.on('message', (order: TroupeOrder) => {
  if (order.kind === 'quiet') quiet = true;
  else ending.abort();
});
process.on('disconnect', () => process.exit(1));
await Promise.all(setup.actors.map((actor) => live(actor, seededRandom(`${setup.seed}/${actor.name}/${setup.life}`))));
process.exit(0);

/** One client after the other, each with a record of its own. */
async function live(actor: TroupeSetup['actors'][number], random: Random): Promise<void> {
  for (let number = 1; !ending.signal.aborted; number += 1) {
    const recorder = new Recorder(setup.records, actor.name, setup.life, number);
    const client = await join(actor, recorder);
    if (client === undefined) return;
    await act(actor, client, random.fork(String(number)), number).catch((error: unknown) => {
      recorder.write({ e: 'fault', message: String(error) });
    });
    await client.close();
    recorder.write({ e: 'left' });
    recorder.close();
  }
}

/** Comes in; while the hub still holds the place of an earlier process of this name, it waits for it to notice. */
async function join(actor: TroupeSetup['actors'][number], recorder: Recorder): Promise<HubClient | undefined> {
  while (!ending.signal.aborted) {
    try {
      const client = await connectHub({
        url: actor.url,
        name: actor.name,
        roles: actor.roles,
        maxConcurrency: 2,
        log: silentLog(),
        reconnect: { baseMs: 20, capMs: 200, connectMs: 60_000 },
      });
      return recordedClient(client, recorder);
    } catch {
      await delay(100);
    }
  }
  return undefined;
}

async function act(actor: Actor, client: HubClient, random: Random, number: number): Promise<void> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  ending.signal.addEventListener('abort', leave, { once: true });
  const stage: Stage = {
    actor,
    key: `${setup.life}-${number}`,
    client,
    random,
    leaving: leaving.signal,
    quiet: () => quiet,
    leave: () => {
      if (!quiet) leave();
    },
  };
  client.onState((state) => {
    if (state === 'closed') leave();
  });
  const timer = setTimeout(stage.leave, random.between(3000, 12_000));
  await Promise.all([parts[actor.kind](stage), repeat(stage, number).then(() => talk(stage))]);
  clearTimeout(timer);
  ending.signal.removeEventListener('abort', leave);
}

/** What became of the last frames of the client before is not known: they are sent again under the ids they had. */
async function repeat(stage: Stage, number: number): Promise<void> {
  const { records, life } = setup;
  const before =
    number > 1 ? readLife(records, stage.actor.name, life, number - 1) : lastOf(stage.actor.name, life - 1);
  if (before === undefined) return;
  await Promise.all(unsettled(before).map((frame) => say(stage, frame as never)));
}

function lastOf(name: string, life: number) {
  for (let number = 1, last = undefined as ReturnType<typeof readLife>; ; number += 1) {
    const found = readLife(setup.records, name, life, number);
    if (found === undefined) return last;
    last = found;
  }
}
