import { access, stat } from 'node:fs/promises';
import { sleep } from '../../base/time.ts';
import { openLog } from '../../hub/index.ts';
import type { Envelope } from '../../protocol/index.ts';
import { findHubToken, tokenFileIn } from '../hub-token.ts';
import { say } from '../print.ts';
import { logIn, workIn } from '../state-folder.ts';
import { foldAgents } from './fold.ts';
import { connectedAgents, hubHttp, isReplay } from './hub-http.ts';
import { shellWord } from './shell-word.ts';
import type { FrameRange, LiveHub, Source } from './source.ts';

/** How often a log is looked at for more, and how often it is asked who works in its folder. ms. */
const LOOK_MS = 200;
const CHECK_MS = 1000;

/**
 * The state folder of a run, whose hub may be at work. Following it ends when no hub was there for `goneMs`; a run that died is
 * started again at once.
 */
export async function stateSource(folder: string, goneMs = 5000): Promise<Source> {
  const database = await logIn(folder);
  const log = await openLog(database);
  const afterOf = (since: number | undefined, afterLsn: number) =>
    since === undefined ? afterLsn : Math.max(afterLsn, log.before(since));
  const ofTree = (tree: string | undefined) => (tree === undefined ? {} : { taskId: tree, tree: true });
  async function* frames({ since, afterLsn = 0, taskIds, tree, ...range }: FrameRange = {}) {
    const after = afterOf(since, afterLsn);
    for (const taskId of taskIds ?? [undefined]) {
      yield* log.frames({ ...range, afterLsn: after, ...ofTree(tree), ...(taskId !== undefined && { taskId }) });
    }
  }
  return {
    named: `--state ${shellWord(folder)}`,
    frames,
    newestFirst: ({ since, afterLsn = 0, tree, ...range }) =>
      log.newestFirst({ ...range, afterLsn: afterOf(since, afterLsn), ...ofTree(tree) }),
    last: async () => log.last(),
    follow: (afterLsn, signal) => follow({ folder, database, goneMs }, afterLsn, signal),
    tasks: async () => log.tasks(),
    agents: () => foldAgents(frames()),
    hub: () => hubAt(folder),
    close: async () => log.close(),
  };
}

async function hubAt(folder: string): Promise<LiveHub | undefined> {
  const work = await workIn(folder);
  if (!work) return undefined;
  // the hub of a run lets nobody look; the log is read from the folder then
  const token = await findHubToken({ folder });
  const hub = hubHttp(work.hub_url, token);
  const connected = await connectedAgents(hub).catch(() => undefined);
  const replay = await isReplay(hub).catch(() => false);
  const left = tokenFileIn(folder);
  const tokenFile = await access(left).then(
    () => left,
    () => undefined,
  );
  return { url: work.hub_url, tokenFile, replay, ...(connected && { connected }) };
}

async function* follow(
  { folder, database, goneMs }: { folder: string; database: string; goneMs: number },
  afterLsn: number,
  signal: AbortSignal,
): AsyncGenerator<Envelope> {
  let position = afterLsn;
  let identity = await identityOf(database);
  let log = await openLog(database);
  let goneSince: number | undefined;
  let checked = Number.NEGATIVE_INFINITY;
  try {
    for (;;) {
      for await (const frame of log.frames({ afterLsn: position })) {
        if (signal.aborted) return;
        position = frame.lsn ?? position;
        yield frame;
      }
      if (signal.aborted) return;
      const now = performance.now();
      if (now - checked >= CHECK_MS) {
        checked = now;
        goneSince = (await workIn(folder)) ? undefined : (goneSince ?? now);
        const current = await identityOf(database);
        if (current !== identity && current !== undefined) {
          say('npc-crew: the hub began another log; this one goes on from its beginning');
          log.close();
          log = await openLog(database);
          [identity, position] = [current, 0];
        } else if (goneSince !== undefined && now - goneSince >= goneMs) {
          say(`npc-crew: no hub is at work in ${folder} any more`);
          return;
        }
      }
      await sleep(LOOK_MS, signal).catch(() => {}); // aborted meanwhile; the loop looks
    }
  } finally {
    log.close();
  }
}

/** Tells one file from another that took its place; undefined when it is away. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && `${found.dev}:${found.ino}`;
}
