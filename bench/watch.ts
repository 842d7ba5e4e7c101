/** Watches this process's resident memory; returns what it is and what it was at most since the last look, in bytes. */
export function watchMemory(): () => { readonly now: number; readonly peak: number } {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  setInterval(look, 20).unref();
  return () => {
    look();
    const seen = { now: process.memoryUsage.rss(), peak };
    peak = 0;
    return seen;
  };
}

/** Ticks of the watch, ms. */
const TICK = 2;

/** The longest stretches in which nothing else could run, in ms. */
export interface Stall {
  /** By the wall clock: also when the machine gave this process no time. */
  readonly wall: number;
  /** The part of a stretch that this process computed. */
  readonly busy: number;
}

/** Watches for how long the event loop of this process is held up; returns the longest since the last look. */
export function watchStalls(): () => Stall {
  let wall = 0;
  let busy = 0;
  let last = performance.now();
  let used = process.cpuUsage();
  setInterval(() => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(used);
    wall = Math.max(wall, now - last - TICK);
    busy = Math.max(busy, Math.min(now - last - TICK, (user + system) / 1000));
    last = now;
    used = process.cpuUsage();
  }, TICK).unref();
  return () => {
    const seen = { wall, busy };
    wall = 0;
    busy = 0;
    return seen;
  };
}
