/** The hub of the chaos test, a process of its own that can be told where to be held, or to kill itself. */
import { appendFileSync } from 'node:fs';
import { pino } from 'pino';
import { startHub } from '../../hub/index.ts';
import { openStorage } from '../../hub/sqlite-storage.ts';
import type { OpenStorage } from '../../hub/storage.ts';
import { type HaltingStorage, type Hit, haltingStorage, type Mark } from './halting-storage.ts';

/** How the process is started. */
export interface HubSetup {
  readonly database: string;
  /** File that each place where the hub was held is appended to, before anything is done there. */
  readonly hits: string;
  readonly diagnostics: string;
  readonly hostNames: readonly string[];
  /** Where to be held at the first chance, if anywhere. */
  readonly order?: HubOrder;
}

/** What the hub does to itself where it is held; `wait` is for others to act meanwhile. */
type Act = 'kill' | 'stop' | 'wait';

/** What the process is told: to be held at a mark and then to do something, or to go on. */
export type HubOrder =
  | { readonly kind: 'arm'; readonly mark: Mark; readonly act: Act }
  | { readonly kind: 'disarm' }
  | { readonly kind: 'go' }
  | { readonly kind: 'end' };

/** What it says. */
export type HubWord =
  | { readonly kind: 'up'; readonly port: number; readonly epoch: string; readonly setAside?: string }
  | { readonly kind: 'hit'; readonly hit: Hit };

const setup = JSON.parse(process.argv[2] ?? '') as HubSetup;
let act: Act = 'wait';
let go: () => void = () => undefined;
let halting: HaltingStorage | undefined;

async function halt(hit: Hit): Promise<void> {
  appendFileSync(setup.hits, `${JSON.stringify(hit)}\n`);
  if (act === 'kill') process.kill(process.pid, 'SIGKILL');
  const told = new Promise<void>((resolve) => {
    go = resolve;
  });
  await say({ kind: 'hit', hit });
  if (act === 'stop') process.kill(process.pid, 'SIGSTOP');
  else await told;
}

function say(word: HubWord): Promise<void> {
  return new Promise((resolve) => process.send?.(word, undefined, {}, () => resolve()));
}

function obey(order: HubOrder): void {
  switch (order.kind) {
    case 'arm':
      act = order.act;
      halting?.arm(order.mark);
      return;
    case 'disarm':
      halting?.arm(undefined);
      return;
    case 'go':
      go();
      return;
    case 'end':
      void hub.close().then(() => process.exit(0));
      return;
    default:
      order satisfies never;
  }
}

const open: OpenStorage = async (path) => {
  const opened = await openStorage(path);
  halting = haltingStorage(opened.storage, halt);
  if (setup.order !== undefined) obey(setup.order);
  return { ...opened, storage: halting.storage };
};

process.on('disconnect', () => process.exit(1));
const hub = await startHub({
  port: 0,
  database: setup.database,
  openStorage: open,
  log: pino({ level: 'warn' }, pino.destination({ dest: setup.diagnostics, sync: true })),
  hostNames: setup.hostNames,
  concurrency: 12,
  limits: { rate: 0, upgradesPerSecond: 0 },
  clocks: {
    silence: 1500,
    attempt: 4000,
    queue: 5000,
    accept: 800,
    ping: 500,
    pong: 500,
    grace: 800,
    cancelGrace: 400,
    hello: 3000,
    backoffBase: 20,
  },
});
process.on('message', obey);
void hub.failed.then((error) => {
  process.stderr.write(`the hub ended itself: ${String(error)}\n`);
  process.exit(2);
});
await say({
  kind: 'up',
  port: hub.port,
  epoch: hub.epoch,
  ...(hub.setAside !== undefined && { setAside: hub.setAside }),
});
