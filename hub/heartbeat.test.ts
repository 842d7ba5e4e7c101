import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { manualClock } from '../test/helpers/manual-clock.ts';
import type { Connection } from './connection.ts';
import { Heartbeat } from './heartbeat.ts';
import { Metrics } from './metrics.ts';

/** As much of a connection as is pinged; it answers as long as `alive` says so. */
class Peer {
  readonly socket = new EventEmitter();
  readonly metrics = new Metrics();
  heard = 0;
  held = false;
  alive = true;
  pings = 0;
  ended = false;

  constructor() {
    const ping = () => {
      this.pings += 1;
      if (this.alive) this.socket.emit('pong');
    };
    Object.assign(this.socket, { ping });
  }

  terminate(): void {
    this.ended = true;
  }
}

function stage(count: number) {
  const clock = manualClock();
  const heartbeat = new Heartbeat(clock, { ping: 30_000, pong: 10_000 });
  const peers = Array.from({ length: count }, () => new Peer());
  const pulses = peers.map((peer) => heartbeat.add(peer as unknown as Connection));
  const advance = async (ms: number) => {
    for (let step = 0; step < ms; step += 100) {
      clock.advance(100);
      await setImmediate();
    }
  };
  return { heartbeat, peers, pulses, advance };
}

test('R-HUB-12: each connection is pinged once a period, at a moment of its own, and one that answers stays', async () => {
  const { peers, advance } = stage(1000);
  const pinged = () => peers.reduce((sum, { pings }) => sum + pings, 0);
  let [before, most] = [0, 0];
  for (let second = 0; second < 30; second += 1) {
    await advance(1000);
    most = Math.max(most, pinged() - before);
    before = pinged();
  }
  expect(most).toBeLessThan(100);
  await advance(31_000);
  expect(peers.filter(({ pings }) => pings < 2 || pings > 3)).toEqual([]);
  expect(peers.some(({ ended }) => ended)).toBe(false);
});

test('R-HUB-12: one that is silent after a ping is ended in time, unless it is not read; one that is left alone is not', async () => {
  const { heartbeat, peers, pulses, advance } = stage(4);
  const [silent, held, gone, talks] = peers as [Peer, Peer, Peer, Peer];
  for (const peer of peers) peer.alive = false;
  held.held = true;
  heartbeat.remove(pulses[2] as (typeof pulses)[number]);
  for (let second = 0; second < 41; second += 1) {
    await advance(1000);
    talks.heard += 1;
  }
  expect([silent, held, gone, talks].map(({ ended }) => ended)).toEqual([true, false, false, false]);
  expect(gone.pings).toBe(0);
});
