import { gzipSync } from 'node:zlib';
import type { Log } from '../base/log.ts';
import type { Masker } from '../base/mask.ts';
import type { HubClient } from '../hub-client/index.ts';
import type { Forge } from './forge.ts';

/** Frames of a finished run as masked JSON Lines, gzipped: what `npc-crew log --file` reads. */
export async function packLog(client: HubClient, runKey: string, masker: Masker): Promise<Uint8Array> {
  const lines: string[] = [];
  for await (const frame of client.readLog({ task_id: runKey, tree: true }))
    lines.push(JSON.stringify(masker.maskValue(frame)));
  return gzipSync(`${lines.join('\n')}\n`);
}

/** Attaches the masked log where the platform allows it; undefined elsewhere. Never fatal: the report matters more. */
export async function attachLog(options: {
  readonly client: HubClient;
  readonly forge: Forge;
  readonly runKey: string;
  readonly masker: Masker;
  readonly log: Log;
}): Promise<string | undefined> {
  try {
    const bytes = await packLog(options.client, options.runKey, options.masker);
    return await options.forge.attachFile({
      name: `run-${options.runKey.slice(0, 8)}.jsonl.gz`,
      bytes,
      type: 'application/gzip',
    });
  } catch (error) {
    options.log.warn({ error }, 'the log could not be attached');
    return undefined;
  }
}
