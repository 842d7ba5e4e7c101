import { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import type { DeadRow } from '../../hub/index.ts';
import { envelope } from '../../protocol/index.ts';
import { findHubToken } from '../hub-token.ts';
import { onlyOne } from '../options.ts';
import { logIn, workIn } from '../state-folder.ts';
import { type HubHttp, hubHttp } from './hub-http.ts';
import { stateFolder } from './open-source.ts';

/** Messages that were never handed over, and how to take them off the list. */
export interface DeadLetters {
  /** In the order of the log. */
  list(): AsyncIterable<DeadRow>;
  /** Returns how many were on the list. */
  drop(lsns: readonly number[]): Promise<number>;
  /** Drops all, or all of one mailbox; returns how many. */
  dropAll(box?: string): Promise<number>;
}

const Row = z.object({ lsn: z.int(), box: z.string(), reason: z.string(), died_at: z.int(), frame: envelope });
const Page = z.object({ dead: z.array(Row), next: z.int().optional() });
const Dropped = z.object({ dropped: z.int() });

/** Where dead letters are. */
export interface Place {
  readonly hub?: string;
  readonly state?: string;
  readonly tokenFile?: string;
}

/** Those of a hub that is up, or of a state folder; where a hub is at work in that folder, it does the dropping. */
export async function openDeadLetters(where: Place): Promise<DeadLetters> {
  onlyOne({ '--state': where.state, '--hub': where.hub });
  if (where.hub !== undefined) return ofHub(hubHttp(where.hub, await findHubToken(where)));
  const folder = await stateFolder(where.state);
  const database = await logIn(folder);
  // two writers would each count the positions of the log for themselves
  const writer = async () => {
    const work = await workIn(folder);
    if (!work) return ofDatabase(database);
    return ofHub(hubHttp(work.hub_url, await findHubToken({ ...where, folder })));
  };
  return {
    list: () => listIn(database),
    drop: async (lsns) => (await writer()).drop(lsns),
    dropAll: async (box) => (await writer()).dropAll(box),
  };
}

function ofDatabase(database: string): DeadLetters {
  const drop = async (lsns: readonly number[]) => {
    const { dropDeadLetters } = await import('../../hub/index.ts');
    return dropDeadLetters(database, lsns);
  };
  return {
    list: () => listIn(database),
    drop,
    async dropAll(box) {
      const lsns: number[] = [];
      for await (const row of listIn(database)) if (box === undefined || row.box === box) lsns.push(row.lsn);
      return drop(lsns);
    },
  };
}

function ofHub(hub: HubHttp): DeadLetters {
  return {
    async *list() {
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page: z.infer<typeof Page> = await hub.json(Page, `/v1/dead?limit=1000&after_lsn=${after}`);
        yield* page.dead;
        after = page.next;
      }
    },
    async drop(lsns) {
      let dropped = 0;
      for (const lsn of lsns) {
        const gone = await hub.json(Dropped, `/v1/dead/${lsn}`, 'DELETE').catch((error: unknown) => {
          if (error instanceof AppError && error.code === 'not_found') return { dropped: 0 };
          throw error;
        });
        dropped += gone.dropped;
      }
      return dropped;
    },
    async dropAll(box) {
      const query = box === undefined ? 'all=1' : `box=${encodeURIComponent(box)}`;
      return (await hub.json(Dropped, `/v1/dead?${query}`, 'DELETE')).dropped;
    },
  };
}

async function* listIn(database: string): AsyncGenerator<DeadRow> {
  const { openLog } = await import('../../hub/index.ts');
  const log = await openLog(database);
  try {
    yield* log.dead();
  } finally {
    log.close();
  }
}
