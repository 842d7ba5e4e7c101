import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { type HubOptions, type RunningHub, startHub } from '../../hub/index.ts';
import { connectPeer, helloPeer, type Peer } from './peer.ts';

/** A hub on a free port that ends with the test. */
export async function testHub(options: Partial<HubOptions> = {}): Promise<RunningHub> {
  const hub = await startHub({ port: 0, database: ':memory:', log: silentLog(), ...options });
  onTestFinished(() => hub.close());
  return hub;
}

/** A folder that is gone after the test. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'npc-hub-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A level-1 peer of a hub. */
export async function join1(
  hub: RunningHub,
  name: string,
  hello: Readonly<Record<string, unknown>> = {},
): Promise<Peer> {
  return (await helloPeer(hub.url, name, hello)).peer;
}

/** A level-0 peer of a hub. */
export async function join0(hub: RunningHub, name: string, query = ''): Promise<Peer> {
  return connectPeer(hub.url, name, { query });
}

/** The payload of a result. */
export function result(summary: string, status: 'success' | 'failed' = 'success') {
  return { status, summary, artifacts: [], issues: [] };
}
