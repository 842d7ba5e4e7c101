import { randomBytes } from 'node:crypto';
import { silentLog } from '../../base/log.ts';
import { environment, PlaceSettings, readConfig } from '../../config/index.ts';
import { connectHub } from '../../hub-client/index.ts';
import type { Envelope } from '../../protocol/index.ts';
import { followHub } from './follow-hub.ts';
import type { FrameRange, Source } from './source.ts';

/** A hub that is up. */
export async function hubSource(url: string, patienceMs: number): Promise<Source> {
  const { hubToken: token } = readConfig(PlaceSettings, { environment: environment() });
  const client = await connectHub({
    url,
    token,
    name: `cli-${process.pid}-${randomBytes(3).toString('hex')}`,
    title: 'somebody who looks',
    log: silentLog(),
    reconnect: { baseMs: 100, capMs: 500, connectMs: 2000, giveUpMs: patienceMs },
  });
  async function* frames({ afterLsn, uptoLsn = Number.POSITIVE_INFINITY, since, taskId }: FrameRange = {}) {
    for await (const frame of client.readLog({ after_lsn: afterLsn, task_id: taskId })) {
      if ((frame.lsn ?? 0) > uptoLsn) return;
      if (since === undefined || (frame.ts ?? 0) >= since) yield frame as Envelope;
    }
  }
  return {
    frames,
    last: async () => undefined,
    follow: (afterLsn, signal) => followHub(client, afterLsn, signal),
    tasks: () => client.tasks(),
    agents: async () => (await client.agents()).filter(({ name }) => name !== client.name),
    close: () => client.close(),
  };
}
