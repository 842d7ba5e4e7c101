import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type CliResult, type RunningCli, startCli } from './npc-crew.ts';
import { connectPeer } from './peer.ts';

/** A home folder for one test, and the environment of commands that live in it. */
export async function testHome(): Promise<{ home: string; env: Record<string, string> }> {
  const home = await mkdtemp(join(tmpdir(), 'npc-cli-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return { home, env: { HOME: home } };
}

/** `npc-crew hub` in a process of its own, with its state folder below the home. */
export async function startHubProcess(
  home: string,
  port = 0,
): Promise<{ hub: RunningCli; url: string; state: string }> {
  const state = join(home, 'state');
  const hub = startCli(['hub', '--port', String(port), '--state', state], { env: { HOME: home } });
  onTestFinished(() => void hub.child.kill('SIGKILL'));
  const [url] = await hub.until(/ws:\/\/127\.0\.0\.1:\d+/);
  await hub.until(/npc-crew log --state/);
  return { hub, url, state };
}

/** Has messages logged on a hub. */
export async function sayOn(url: string, ...texts: string[]): Promise<void> {
  const ann = await connectPeer(url, 'ann');
  for (const payload of texts) ann.send({ type: 'route', to: 'ann', task_id: 'run.code', payload });
  await ann.ping();
  await ann.close();
}

/** The payloads of frames that were printed as JSON Lines. */
export function payloadsOf({ stdout }: CliResult): unknown[] {
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).payload);
}

/** A log file of six messages, a minute between two, the last one now. */
export async function sixMinutes(home: string): Promise<string> {
  const path = join(home, 'run.jsonl');
  const lines = Array.from({ length: 6 }, (_, index) => ({
    type: index % 2 ? 'task.progress' : 'route',
    from: ['ann', 'bob', 'eve'][index % 3],
    to: 'boss',
    task_id: index < 3 ? 'run.code' : 'run.review',
    payload: index + 1,
    lsn: index + 1,
    ts: Date.now() - (5 - index) * 60_000,
  }));
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}
