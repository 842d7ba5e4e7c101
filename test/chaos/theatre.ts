import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';
import type { TroupeOrder, TroupeSetup } from './agent-process.ts';
import { type Actor, actors, plainName } from './cast.ts';
import { Child } from './child.ts';
import type { Hit } from './halting-storage.ts';
import type { HubOrder, HubSetup, HubWord } from './hub-process.ts';
import { PlainPeer } from './plain-peer.ts';

/** Where things are and what they are drawn from. */
export interface TheatreOptions {
  /** Folder of the run: `log.db`, `records/`, what the processes complained of. */
  readonly folder: string;
  readonly seed: number;
  /** Who shares a process. */
  readonly troupes: readonly (readonly Actor[])[];
  readonly hubFile: string;
  readonly agentFile: string;
}

/** A process of agents, and how often it was begun. */
interface Troupe {
  readonly number: number;
  readonly actors: readonly Actor[];
  life: number;
  child: Child<TroupeOrder, never> | undefined;
}

/** The processes of one run, and the roads between them: one for each agent. */
export class Theatre {
  readonly database: string;
  readonly records: string;
  readonly hits: string;
  /** What should never be, as it was noticed. */
  readonly faults: string[] = [];
  /** Hears where the hub is held. */
  onHit: (hit: Hit) => void = () => undefined;
  hubStarts = 0;
  agentStarts = 0;
  url = '';
  readonly plain = new PlainPeer(plainName, () => this.url);
  readonly #options: TheatreOptions;
  readonly #proxies = new Map<string, TcpProxy>();
  readonly #troupes: readonly Troupe[];
  #hub: Child<HubOrder, HubWord> | undefined;
  #epoch: string | undefined;
  #quiet = false;

  constructor(options: TheatreOptions) {
    this.#options = options;
    this.#troupes = options.troupes.map((own, number) => ({ number, actors: own, life: 0, child: undefined }));
    this.database = join(options.folder, 'log.db');
    this.records = join(options.folder, 'records');
    this.hits = join(options.folder, 'hits.jsonl');
  }

  get hub(): Child<HubOrder, HubWord> {
    if (this.#hub === undefined) throw new Error('there is no hub');
    return this.#hub;
  }

  async open(): Promise<void> {
    for (const { name } of actors) this.#proxies.set(name, await startTcpProxy());
    await this.startHub();
    for (const { number } of this.#troupes) this.startTroupe(number);
  }

  /** Starts the hub on the database of the one before; resolves once agents can reach it. With `order` it is held as soon as that fits. */
  async startHub(order?: HubOrder): Promise<void> {
    this.hubStarts += 1;
    const setup: HubSetup = {
      database: this.database,
      hits: this.hits,
      diagnostics: join(this.#options.folder, 'hub.jsonl'),
      hostNames: [...this.#proxies.values()].map(({ port }) => `127.0.0.1:${port}`),
      ...(order !== undefined && { order }),
    };
    let up: (word: Extract<HubWord, { kind: 'up' }>) => void = () => undefined;
    const ready = new Promise<Extract<HubWord, { kind: 'up' }>>((resolve) => {
      up = resolve;
    });
    const hub = new Child<HubOrder, HubWord>(
      this.#options.hubFile,
      setup,
      join(this.#options.folder, 'hub.stderr'),
      (word) => {
        if (word.kind === 'up') up(word);
        else this.onHit(word.hit);
      },
    );
    this.#hub = hub;
    const first = await Promise.race([ready, hub.ended]);
    if (typeof first !== 'object') {
      if (first !== 'SIGKILL') this.faults.push(`the hub did not start: ${first}, see hub.stderr`);
      return;
    }
    if (first.setAside !== undefined) this.faults.push(`the database was set aside: ${first.setAside}`);
    this.#epoch ??= first.epoch;
    if (first.epoch !== this.#epoch) this.faults.push('the epoch changed');
    this.url = `ws://127.0.0.1:${first.port}`;
    for (const proxy of this.#proxies.values()) {
      proxy.target = first.port;
      proxy.open();
    }
    void hub.ended.then((how) => {
      for (const proxy of this.#proxies.values()) proxy.block();
      if (how !== 'SIGKILL' && how !== 0) this.faults.push(`the hub ended by itself: ${how}, see hub.stderr`);
    });
  }

  startTroupe(number: number): void {
    const troupe = this.#troupeAt(number);
    troupe.life += 1;
    this.agentStarts += 1;
    const setup: TroupeSetup = {
      seed: this.#options.seed,
      life: troupe.life,
      records: this.records,
      actors: troupe.actors.map((actor) => ({ ...actor, url: this.#proxyOf(actor.name).url })),
      quiet: this.#quiet,
    };
    const child = new Child<TroupeOrder, never>(
      this.#options.agentFile,
      setup,
      join(this.#options.folder, 'agents.stderr'),
    );
    troupe.child = child;
    void child.ended.then((how) => {
      if (how !== 'SIGKILL' && how !== 0) this.faults.push(`process ${number} of agents ended by itself: ${how}`);
    });
  }

  /** The process that an agent lives in, by its number; undefined when no agent has this name. */
  troupeOf(name: string): number | undefined {
    const number = this.#troupes.findIndex((troupe) => troupe.actors.some((actor) => actor.name === name));
    return number < 0 ? undefined : number;
  }

  troupe(number: number): Child<TroupeOrder, never> {
    const { child } = this.#troupeAt(number);
    if (child === undefined) throw new Error(`process ${number} was not started`);
    return child;
  }

  cut(name: string): void {
    this.#proxyOf(name).cut();
  }

  stall(name: string): void {
    this.#proxyOf(name).stall();
  }

  cutAll(): void {
    for (const proxy of this.#proxies.values()) proxy.cut();
  }

  /** From now on nobody begins anything new. */
  quiet(): void {
    this.#quiet = true;
    for (const { child } of this.#troupes) child?.tell({ kind: 'quiet' });
  }

  /** Ends everything politely, agents first. */
  async close(): Promise<void> {
    const ends = this.#troupes.map(async ({ child, number }) => {
      if (child !== undefined && !(await child.end({ kind: 'end' }, 15_000))) {
        this.faults.push(`process ${number} of agents did not end when told`);
      }
    });
    await Promise.all(ends);
    await this.plain.end();
    if (!(await this.hub.end({ kind: 'end' }, 15_000))) this.faults.push('the hub did not end when told');
    await this.#closeRoads();
  }

  /** Ends everything at once. */
  async destroy(): Promise<void> {
    await this.plain.end();
    await Promise.all([this.#hub, ...this.#troupes.map(({ child }) => child)].map((child) => child?.kill()));
    await this.#closeRoads();
  }

  /** Where the hub was held last, as it wrote down itself. */
  lastHit(): Hit | undefined {
    const line = readFileSync(this.hits, 'utf8').trimEnd().split('\n').at(-1);
    return line ? (JSON.parse(line) as Hit) : undefined;
  }

  async #closeRoads(): Promise<void> {
    const proxies = [...this.#proxies.values()];
    this.#proxies.clear();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }

  #troupeAt(number: number): Troupe {
    const troupe = this.#troupes[number];
    if (troupe === undefined) throw new Error(`there is no process ${number}`);
    return troupe;
  }

  #proxyOf(name: string): TcpProxy {
    const proxy = this.#proxies.get(name);
    if (proxy === undefined) throw new Error(`there is no agent ${name}`);
    return proxy;
  }
}
