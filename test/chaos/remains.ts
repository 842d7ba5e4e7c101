import type { DeadLetter, SessionRecord, Storage, StoredMessage, TaskRecord } from '../../hub/storage.ts';
import { deadLettersOf } from '../helpers/watched-storage.ts';
import type { Actor } from './cast.ts';
import { type Life, readLives } from './record.ts';

/** What the hub left on its disk, and what the agents wrote down. */
export interface Remains {
  readonly messages: readonly StoredMessage[];
  readonly tasks: readonly TaskRecord[];
  readonly sessions: ReadonlyMap<string, SessionRecord>;
  readonly dead: readonly DeadLetter[];
  /** By name, in the order in which they lived. */
  readonly lives: ReadonlyMap<string, readonly Life[]>;
  /** What the level-0 peer was told. */
  readonly plain: { readonly name: string; readonly told: readonly number[] };
}

/** Where a run left what it left. */
export interface Places {
  readonly folder: string;
  readonly database: string;
  readonly records: string;
  readonly actors: readonly Actor[];
  readonly plain: Remains['plain'];
}

/** How one client is called in a fault. */
export function nameOf({ name, life, client }: Life): string {
  return `${name} (process ${life}, client ${client})`;
}

/** Reads both. */
export async function gather(storage: Storage, { records, actors, plain }: Places): Promise<Remains> {
  const messages: StoredMessage[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await storage.tail({}, after, 1000, 8 * 1024 * 1024);
    messages.push(...page.messages);
    after = page.next;
  }
  const sessions = new Map((await storage.sessions()).map((session) => [session.name, session]));
  const lives = new Map(actors.map(({ name }) => [name, readLives(records, name)]));
  const dead = await deadLettersOf(storage);
  return { messages, tasks: await storage.tasks({}), sessions, dead, lives, plain };
}
