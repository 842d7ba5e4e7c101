import { randomBytes } from 'node:crypto';
import { AppError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { connectHub, type HubClient, wireCode } from '../../hub-client/index.ts';
import { hubAddress } from '../hub-address.ts';
import type { Place } from '../read/dead.ts';
import { findTask } from '../read/find-task.ts';
import { findHub, type HubPlace } from '../read/live-hub.ts';

/** Where the hub is, and who speaks to it. */
export interface Speaker extends Place {
  /** Name on the hub; default: one of its own for each command. */
  readonly as?: string;
}

/** A person on a hub. */
export interface Person {
  readonly client: HubClient;
  readonly place: HubPlace;
}

/** Joins a hub for as long as `act` takes. What the hub refuses is told in its words. */
export async function asPerson<T>({ as, ...where }: Speaker, act: (person: Person) => Promise<T>): Promise<T> {
  const place = await findHub(where);
  const client = await connectHub({
    url: hubAddress(place.url),
    token: place.token,
    name: as ?? `cli-${randomBytes(3).toString('hex')}`,
    title: 'somebody at a terminal',
    log: silentLog(),
    reconnect: { connectMs: 3000, giveUpMs: 60_000 },
  });
  try {
    return await act({ client, place });
  } catch (error) {
    if (wireCode(error) === undefined) throw error;
    const words = (error as AppError).message.replace(/^The/, 'the').replace(/\.$/, '');
    // A replay forbids it to everybody.
    const isOwners = wireCode(error) === 'forbidden' && words.includes('owner');
    const cure = isOwners ? '; be its owner with --as NAME, or have a token for admin' : '';
    throw new AppError('refused', `${words}${cure}`, { cause: error });
  } finally {
    await client.close();
  }
}

/** Ends a task, named by its id or the end of it; returns the id. */
export function cancelTask(name: string, reason: string, speaker: Speaker): Promise<string> {
  return rule(name, speaker, { type: 'task.cancel', payload: { reason } });
}

/** Answers the question that a task waits for; returns its id. */
export function answerTask(name: string, text: string, speaker: Speaker): Promise<string> {
  return rule(name, speaker, { type: 'task.answer', payload: { text } });
}

type Word =
  | { readonly type: 'task.cancel'; readonly payload: { reason: string } }
  | { readonly type: 'task.answer'; readonly payload: { text: string } };

/** Most people name a task whole; only when there is none of that name the table is searched for the one they mean. */
function rule(name: string, speaker: Speaker, word: Word): Promise<string> {
  return asPerson(speaker, async ({ client }) => {
    const say = (task_id: string) => client.send({ ...word, to: 'hub', task_id });
    try {
      await say(name);
      return name;
    } catch (error) {
      if (!unknown.has(wireCode(error) ?? '')) throw error;
    }
    const task_id = findTask(name, await client.tasks());
    await say(task_id);
    return task_id;
  });
}

/** What a hub answers to an id that no task has, or can have. */
const unknown: ReadonlySet<string> = new Set(['no_such_task', 'bad_frame']);
