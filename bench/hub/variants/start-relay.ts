import type { Relay, RelaySettings } from './relay.ts';

/** Starts a relay of any kind. */
export async function startRelay(settings: RelaySettings): Promise<Relay> {
  switch (settings.variant) {
    case 'original':
      return (await import('./original.ts')).startOriginal();
    case 'raw':
      return (await import('./raw.ts')).startRaw();
    case 'level-0':
    case 'level-1':
      return (await import('./ours.ts')).startOurs(settings);
    case 'socket.io':
      return (await import('./socket-io.ts')).startSocketIo({ recovery: false });
    case 'socket.io-recovery':
      return (await import('./socket-io.ts')).startSocketIo({ recovery: true });
    default:
      return settings.variant satisfies never;
  }
}
