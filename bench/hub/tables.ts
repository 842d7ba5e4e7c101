import { type Spread, spread } from '../statistics.ts';
import { megabytes, quartiles, short, table } from '../table.ts';
import { stores } from './durable.ts';
import { type Figure, toJetStream } from './figures.ts';
import { type RelayRow, summarise } from './relay-bench.ts';
import type { Results } from './results.ts';

/** A part of the results as people read it. */
export interface Section {
  readonly title: string;
  readonly table: string;
  /** What must be known to read it rightly. */
  readonly note?: string;
}

/** The figures that are to be reached. */
export function figureTable(figures: readonly Figure[]): string {
  return table(
    ['work', 'figure', 'at least', 'aim', 'measured', 'quartiles', 'verdict'],
    figures.map(({ work, what, unit, bound, target, aim, measured, verdict }) => {
      const sign = bound === 'most' ? '≤' : '≥';
      const limit = (value: number | undefined) => (value === undefined ? '' : `${sign} ${value} ${unit}`.trim());
      return [
        work,
        what,
        limit(target),
        limit(aim),
        `${short(measured.median)} ${unit}`.trim(),
        quartiles(measured),
        verdict,
      ];
    }),
  );
}

/** Everything else that was measured. */
export function sections(results: Results): Section[] {
  return [relays(results), durable(results), idle(results), queries(results), stalled(results)].flatMap(
    (section) => section ?? [],
  );
}

function relays({ relays: cells }: Results): Section | undefined {
  if (cells.length === 0) return undefined;
  const rows = summarise(cells).sort((a, b) => compare(a.work, b.work) || a.bytes - b.bytes);
  const ratio = (figure: Spread | undefined) =>
    figure === undefined ? '' : `${short(figure.median)} (${quartiles(figure)})`;
  return {
    title: 'Relays',
    note: 'CPU is that of the relay per relayed message, all its threads; × is the ratio to the original relay of the same repetition: median (quartiles).',
    table: table(
      ['work', 'bytes', 'relay', 'CPU µs', 'msg/s', 'p50 ms', 'p99 ms', 'CPU ×', 'rate ×', 'p50 ×'],
      rows.map(({ work, bytes, variant, own, ratio: to }: RelayRow) => [
        work,
        String(bytes),
        variant,
        short(own.cpu?.median),
        own.rate?.median.toFixed(0) ?? '',
        own.p50?.median.toFixed(3) ?? '',
        own.p99?.median.toFixed(3) ?? '',
        ratio(to.cpu),
        ratio(to.rate),
        ratio(to.p50),
      ]),
    ),
  };
}

function durable({ durable: cells }: Results): Section | undefined {
  if (cells.length === 0) return undefined;
  const compared = cells.some(({ store }) => store === 'jetstream');
  return {
    title: 'Durable messages',
    note: compared
      ? 'Messages of 256 bytes that the sender was told are durable, 64 in flight. Both servers survive the end of their process with what they confirmed, and neither waits for the disk.'
      : '`nats-server` is not installed here, so there is nothing to compare with.',
    table: table(
      ['store', 'accepted/s', 'quartiles', 'server CPU µs', 'to JetStream ×'],
      stores.flatMap((store) => {
        const own = cells.filter((cell) => cell.store === store);
        if (own.length === 0) return [];
        const rate = spread(own.map((cell) => cell.rate));
        const to = toJetStream(cells, store);
        return [
          [
            store,
            rate.median.toFixed(0),
            `${rate.low.toFixed(0)}–${rate.high.toFixed(0)}`,
            short(spread(own.map(({ cpu }) => cpu)).median),
            to.length === 0 ? '' : short(spread(to).median),
          ],
        ];
      }),
    ),
  };
}

function idle({ idle: runs }: Results): Section | undefined {
  const [first] = runs;
  if (first === undefined) return undefined;
  const period = first.pingMs / 1000;
  const usual =
    period === 30
      ? 'that is the period the hub has anyway.'
      : `the hub's own is 30 s, so there were ${short(30 / period)} times as many pings a second as usual.`;
  return {
    title: 'Idle connections',
    note: `Every connection was pinged once within ${period} s; ${usual} A stall is a stretch in which the hub's event loop ran nothing else; "computing" is the part of one that the hub itself used, the rest is the machine giving its time to others. "Before" is the same watch for the same time without connections.`,
    table: table(
      ['connections', 'RSS before MB', 'RSS with them MB', 'pings', 'stall ms', 'computing ms', 'stall before ms'],
      runs.map(({ connections, before, after, pings, stall, stallBefore }) => [
        String(connections),
        megabytes(before),
        megabytes(after),
        String(pings),
        stall.wall.toFixed(1),
        stall.busy.toFixed(1),
        stallBefore.wall.toFixed(1),
      ]),
    ),
  };
}

function queries({ queries: rows }: Results): Section | undefined {
  if (rows.length === 0) return undefined;
  return {
    title: 'Look-ups',
    note: `In a log of ${rows[0]?.messages.toLocaleString('en')} messages, about 100 a task, each time another task, mailbox or place.`,
    table: table(
      ['look-up', 'finds', 'p50 ms', 'p95 ms'],
      rows.map(({ query, found, p50, p95 }) => [query, String(found), p50.toFixed(2), p95.toFixed(2)]),
    ),
  };
}

function stalled({ stalled: runs }: Results): Section | undefined {
  if (runs.length === 0) return undefined;
  return {
    title: 'A reader that does not read',
    note: 'Messages to a level-1 reader that has paused its socket; RSS is that of the hub. "Before" is after 6.5 MB of such messages to the reader while it still read.',
    table: table(
      ['bytes', 'then it', 'sent', 'received', 'in order', 'RSS before MB', 'peak, stalled', 'peak, catching up'],
      runs.map(({ bytes, way, sent, received, inOrder, before, peakStalled, peakReading }) => [
        String(bytes),
        way,
        String(sent),
        String(received),
        inOrder ? 'yes' : 'no',
        megabytes(before),
        megabytes(peakStalled),
        megabytes(peakReading),
      ]),
    ),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
