import type { Children } from '../children.ts';
import { launcherOptions } from '../launcher.ts';
import type { RelayHandlers } from './relay-process.ts';
import type { StalledHandlers } from './stalled-process.ts';

/** What a reader that does not read costs the hub; memory in bytes. */
export interface StalledFigures {
  /** How the reader came back: it read on, or its connection was cut and its session resumed. */
  readonly way: 'reads on' | 'resumes';
  /** Size of one message. */
  readonly bytes: number;
  readonly sentBytes: number;
  /** Resident memory before, at most while nothing was read, and at most until all was read. */
  readonly before: number;
  readonly peakStalled: number;
  readonly peakReading: number;
  readonly sent: number;
  /** Messages that reached the reader, each counted once. */
  readonly received: number;
  readonly inOrder: boolean;
}

/** Bytes of messages that a willing reader takes before: what the hub needs for such traffic anyway is there then. */
const WARM_UP = 6_500_000;

/** Sends to a reader that has stopped, then lets it catch up; both ways to come back. */
export async function benchStalled(
  children: Children,
  { sentBytes, sizes }: { sentBytes: number; sizes: readonly number[] },
  say: (line: string) => void,
): Promise<StalledFigures[]> {
  const figures: StalledFigures[] = [];
  const ways = sizes.flatMap((bytes) => (['reads on', 'resumes'] as const).map((way) => ({ bytes, way })));
  for (const { bytes, way } of ways) {
    const warmUp = Math.ceil(WARM_UP / bytes);
    const folder = await children.folder();
    const limits = { mailboxMessages: 1_000_000, mailboxBytes: 4 * sentBytes };
    const settings = { variant: 'level-1', folder, limits };
    const relay = await children.start<RelayHandlers>('hub/relay-process', settings, {
      core: 0,
      nodeOptions: launcherOptions(),
    });
    const peers = await children.start<StalledHandlers>('hub/stalled-process', null, { core: 1 });
    await peers.ask('connect', await relay.ask('port'));
    await relay.ask('memory');
    await peers.ask('send', { messages: warmUp, bytes });
    await peers.ask('read', warmUp);
    const { now: before } = await relay.ask('memory');
    await peers.ask('pause');
    const messages = Math.ceil(sentBytes / bytes);
    const { seconds } = await peers.ask('send', { messages, bytes });
    const { peak: peakStalled } = await relay.ask('memory');
    say(`stalled: ${messages} messages of ${bytes} bytes accepted in ${seconds.toFixed(1)} s; the reader ${way}`);
    await peers.ask('readAgain', { cut: way === 'resumes' });
    const sent = warmUp + messages;
    const { received, inOrder } = await peers.ask('read', sent);
    const { peak: peakReading } = await relay.ask('memory');
    await peers.end();
    await relay.end();
    await children.removeFolder(folder);
    figures.push({
      way,
      bytes,
      sentBytes: messages * bytes,
      before,
      peakStalled,
      peakReading,
      sent,
      received,
      inOrder,
    });
  }
  return figures;
}
