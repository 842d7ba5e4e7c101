import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameType } from '../../protocol/index.ts';

/** A frame as an agent sent it, complete enough to be sent again. */
export interface SentFrame {
  readonly type: FrameType;
  readonly id: string;
  readonly to: string;
  readonly task_id: string;
  readonly payload: unknown;
  readonly attempt?: number;
  readonly ref?: string;
  /** Worthless when late, so not to be sent again. */
  readonly once?: boolean;
}

/** A frame as the agent's own code got it. */
export interface GotFrame {
  readonly type: string;
  readonly id: string;
  readonly from: string;
  readonly task_id: string;
  readonly seq?: number;
  readonly lsn?: number;
  readonly attempt?: number;
  readonly redelivered?: number;
}

/** A line of an agent's record: what its own code did and was told, written down when it happened. */
export type Entry =
  | { readonly e: 'session'; readonly session: string; readonly at: number }
  | { readonly e: 'gap'; readonly reason: string }
  | { readonly e: 'sends'; readonly frame: SentFrame }
  | { readonly e: 'accepted'; readonly id: string }
  | { readonly e: 'refused'; readonly id: string; readonly code: string }
  | { readonly e: 'got'; readonly frame: GotFrame }
  /** Its watch showed the message at this position. */
  | { readonly e: 'saw'; readonly lsn: number }
  | { readonly e: 'left' }
  | { readonly e: 'fault'; readonly message: string };

/** What one client of an agent wrote down. */
export interface Life {
  readonly name: string;
  /** Number of the process, and of the client in it. */
  readonly life: number;
  readonly client: number;
  readonly entries: readonly Entry[];
}

/** A file that only grows. What was written is in the hands of the kernel, where a kill of the process does not reach it. */
export class Recorder {
  readonly #file: number;

  constructor(folder: string, name: string, life: number, client: number) {
    this.#file = openSync(join(folder, `${name}.${life}.${client}.jsonl`), 'a');
  }

  write(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The record of one client; undefined when there is none. */
export function readLife(folder: string, name: string, life: number, client: number): Life | undefined {
  const path = join(folder, `${name}.${life}.${client}.jsonl`);
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, 'utf8').split('\n');
  // What follows the last line end was cut short by a kill.
  const entries = lines.slice(0, -1).map((line) => JSON.parse(line) as Entry);
  return { name, life, client, entries };
}

/** All that an agent wrote down, in the order in which it lived. */
export function readLives(folder: string, name: string): Life[] {
  return readdirSync(folder)
    .flatMap((file) => {
      const [own, life, client, end] = file.split('.');
      return own === name && end === 'jsonl' ? [{ life: Number(life), client: Number(client) }] : [];
    })
    .sort((a, b) => a.life - b.life || a.client - b.client)
    .flatMap(({ life, client }) => readLife(folder, name, life, client) ?? []);
}

/** Frames of a life whose fate its agent never learned, in the order of sending. */
export function unsettled({ entries }: Life): SentFrame[] {
  const open = new Map<string, SentFrame>();
  for (const entry of entries) {
    if (entry.e === 'sends' && !entry.frame.once) open.set(entry.frame.id, entry.frame);
    if (entry.e === 'accepted' || (entry.e === 'refused' && !isUnsure(entry.code))) open.delete(entry.id);
  }
  return [...open.values()];
}

/** Whether a refusal came from this side, so that the hub may have the frame all the same. */
export function isUnsure(code: string): boolean {
  return code === 'disconnected' || code === 'refused';
}
