import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../helpers/random.ts';
import { actors } from './cast.ts';
import type { Hit } from './halting-storage.ts';
import type { Deed, Point } from './points.ts';
import type { Theatre } from './theatre.ts';

/** How long a point may take to be reached, ms. */
const PATIENCE = 60_000;

/** Has the hub held at the point, and does there what is to be done. Resolves to where that was; undefined when the point was not reached. */
export async function playPoint(
  theatre: Theatre,
  point: Point,
  random: Random,
  signal?: AbortSignal,
): Promise<Hit | undefined> {
  const { type, skip, deed } = point;
  const heard = new Promise<Hit>((resolve) => {
    theatre.onHit = resolve;
  });
  const { hub } = theatre;
  const means = killsHub(deed) ? 'kill' : deed === 'hub stopped' ? 'stop' : 'wait';
  hub.tell({ kind: 'arm', mark: { type, skip }, act: means });
  const waiting = new AbortController();
  const patience = signal === undefined ? waiting.signal : AbortSignal.any([waiting.signal, signal]);
  const late = delay(PATIENCE, 'late' as const, { signal: patience }).catch(() => 'late' as const);
  const first = await Promise.race([heard, hub.ended, late]);
  waiting.abort();
  if (first === 'late') {
    hub.tell({ kind: 'disarm' });
    // It may have been reached meanwhile.
    hub.tell({ kind: 'go' });
    return undefined;
  }
  const hit = typeof first === 'object' ? first : theatre.lastHit();
  if (hit !== undefined) await act(theatre, point, hit, random);
  return hit;
}

function killsHub(deed: Deed): boolean {
  return deed === 'hub killed' || deed === 'hub killed, again at its first commit' || deed === 'hub and sender killed';
}

async function act(theatre: Theatre, { deed, stopMs }: Point, hit: Hit, random: Random): Promise<void> {
  const { hub } = theatre;
  const agent = agentAt(hit, deed.startsWith('recipient'), random);
  const number = theatre.troupeOf(agent) ?? 0;
  const goOn = (): void => hub.tell({ kind: 'go' });
  switch (deed) {
    case 'hub killed':
      return theatre.startHub();
    case 'hub killed, again at its first commit':
      await theatre.startHub({ kind: 'arm', mark: { type: 'any', skip: 0 }, act: 'kill' });
      await theatre.hub.ended;
      return theatre.startHub();
    case 'hub and sender killed':
      await theatre.troupe(number).kill();
      await theatre.startHub();
      return theatre.startTroupe(number);
    case 'hub stopped':
      await delay(stopMs);
      return hub.signal('SIGCONT');
    case 'all cut':
      theatre.cutAll();
      return goOn();
    case 'sender killed':
    case 'recipient killed':
      await theatre.troupe(number).kill();
      goOn();
      await delay(random.int(300));
      return theatre.startTroupe(number);
    case 'sender stopped':
    case 'recipient stopped':
      theatre.troupe(number).signal('SIGSTOP');
      goOn();
      await delay(stopMs);
      return theatre.troupe(number).signal('SIGCONT');
    case 'sender cut':
    case 'recipient cut':
      theatre.cut(agent);
      return goOn();
    case 'sender stalled':
      theatre.stall(agent);
      return goOn();
    default:
      deed satisfies never;
  }
}

/** The agent that sent the frame, or that it is for; the other one where that is the hub or nobody. */
function agentAt({ from, to }: Hit, recipient: boolean, random: Random): string {
  const names = new Set(actors.map(({ name }) => name));
  const [first, second] = recipient ? [to, from] : [from, to];
  if (names.has(first)) return first;
  return names.has(second) ? second : random.pick(actors).name;
}
