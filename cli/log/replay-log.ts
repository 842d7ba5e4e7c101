import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { sleep } from '../../base/time.ts';
import { environment, PlaceSettings, readConfig } from '../../config/index.ts';
import { type Replayed, type ReplayHub, startReplay } from '../../hub/index.ts';
import { openDiagnostics } from '../diagnostics.ts';
import { print, say } from '../print.ts';
import { fileSource } from '../read/file-source.ts';
import { TaskFold } from '../read/fold.ts';
import { plural } from '../show/units.ts';
import { aborted, abortOnSignal } from '../signals.ts';
import { makeStateFolder, noteRun } from '../state-folder.ts';

export interface ReplayOptions {
  readonly replay: string;
  /** Folder for the new log.db; default: a temporary one that is gone afterwards. */
  readonly state?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** How many times as fast as it was; default: all at once. */
  readonly speed?: number;
}

/** Messages that are read from the file before they are added together. */
const TOGETHER = 256;

/** Shows the messages of a log file on a hub of their own, which takes no others, until a signal comes. */
export async function replayLog({ replay: file, state, port = 0, speed }: ReplayOptions): Promise<void> {
  const signal = abortOnSignal();
  const { logLevel } = readConfig(PlaceSettings, { environment: environment() });
  const folder = await freshFolder(state);
  try {
    const log = openDiagnostics(folder, logLevel);
    const hub = await startReplay({ port, database: join(folder, 'log.db'), auth: 'none', log });
    try {
      await noteRun(folder, { runKey: `replay-${process.pid}`, hubUrl: hub.url, goal: `replay of ${file}` });
      if (speed !== undefined) await announce(hub, `replays ${file} at ${speed} times its pace`);
      const counts = await play(hub, file, speed, signal);
      if (!signal.aborted) {
        const held = `${plural(counts.messages, 'message')}, ${plural(counts.tasks, 'task')}`;
        if (speed === undefined) await announce(hub, `holds ${held} of ${file}`);
        else say(`npc-crew: that was all: ${held}`);
        await aborted(signal);
      }
    } finally {
      await hub.close();
    }
  } finally {
    if (state === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function announce({ url }: ReplayHub, what: string): Promise<void> {
  await print(url);
  say(`npc-crew: the hub ${what}, to be looked at only: npc-crew log --hub ${url}   (Ctrl-C ends it)`);
}

/** Adds the messages of the file, all at once or at a pace. */
async function play(
  hub: ReplayHub,
  file: string,
  speed: number | undefined,
  signal: AbortSignal,
): Promise<{ messages: number; tasks: number }> {
  const fold = new TaskFold();
  let messages = 0;
  let together: Replayed[] = [];
  let begin: { ts: number; at: number } | undefined;
  const add = async () => {
    await hub.add(together);
    messages += together.length;
    together = [];
  };
  for await (const frame of fileSource(file).frames()) {
    if (signal.aborted) break;
    if (speed !== undefined && frame.ts !== undefined) {
      begin ??= { ts: frame.ts, at: performance.now() };
      const wait = (frame.ts - begin.ts) / speed - (performance.now() - begin.at);
      if (wait > 0) {
        await add();
        await sleep(wait, signal).catch(() => {}); // aborted meanwhile; the loop looks
        if (signal.aborted) break;
      }
    }
    together.push({ frame, task: fold.take(frame) });
    if (together.length === TOGETHER) await add();
  }
  await add();
  return { messages, tasks: fold.rows().length };
}

async function freshFolder(state: string | undefined): Promise<string> {
  if (state === undefined) return mkdtemp(join(tmpdir(), 'npc-replay-'));
  const folder = await makeStateFolder(state);
  const there = await stat(join(folder, 'log.db')).catch(() => undefined);
  if (!there) return folder;
  throw new AppError(
    'usage',
    `${folder} holds a log already; a replay wants a new folder, or none (leave --state out)`,
  );
}
