import type { Clock } from '../base/time.ts';
import type { Connection } from './connection.ts';
import type { HubClocks } from './options.ts';
import { afterReading } from './timers.ts';

/**
 * Pings one connection and ends it when nothing is heard for `pong` ms after a ping. The first ping comes at a random
 * moment of the period, so that the pings of many connections are spread over it. Returns how to stop.
 */
export function startHeartbeat(connection: Connection, clock: Clock, clocks: HubClocks): () => void {
  let timer: { cancel(): void };
  let stopped = false;
  let pingedAt = 0;
  connection.socket.on('pong', () => {
    connection.heard += 1;
    if (pingedAt > 0) connection.metrics.pingRoundTrip.observe((clock.monotonic() - pingedAt) / 1000);
    pingedAt = 0;
  });
  const ping = () => {
    const { heard } = connection;
    pingedAt = clock.monotonic();
    connection.socket.ping();
    timer = clock.after(clocks.pong, () => afterReading(() => judge(heard)));
  };
  const judge = (before: number) => {
    if (stopped) return;
    if (connection.heard === before && !connection.held) connection.terminate();
    else timer = clock.after(Math.max(1, clocks.ping - clocks.pong), ping);
  };
  timer = clock.after(Math.max(1, Math.random() * clocks.ping), ping);
  return () => {
    stopped = true;
    timer.cancel();
  };
}
