import type { Random } from '../helpers/random.ts';
import { hugeFrame, mutate } from './mutate.ts';
import { isLoggable, type Reading, readAs } from './oracle.ts';
import { encode, type Heard, RawSocket } from './raw-socket.ts';
import { validFrame } from './valid-frames.ts';
import { asBinary, asText, violation } from './wire.ts';

/** What one name sent and was told, over all its connections. */
export interface Tally {
  readonly name: string;
  sent: number;
  connections: number;
  /** Rows that the hub must have logged for it, but for stale results. */
  rows: number;
  errors: Record<string, number>;
  /** Codes that connections were closed with. */
  closes: Record<string, number>;
  /** Frames that were taken, by id: what another reader reads in them. */
  readonly taken: Map<string, Readonly<Record<string, unknown>>>;
  readonly faults: string[];
}

/** What one message is to the hub, as we see it. */
interface Shot {
  readonly bytes: Buffer;
  readonly reading: Reading;
}

/** Bad frames that close a connection, and how long they count; a little less, so that groups stay below. */
const BAD = 19;
const WINDOW_MS = 10_500;

/** How long the hub may take to answer, ms. */
const PATIENCE = 30_000;

/** One name that sends what nobody should, on one connection after the other, and keeps account of what comes of it. */
export class FuzzPeer {
  readonly tally: Tally;
  readonly #random: Random;
  readonly #port: number;
  readonly #used = new Set<string>();
  #socket: RawSocket | undefined;
  #level: 0 | 1 = 0;
  #number = 0;
  #marks = 0;
  /** What was heard since the group began. */
  #errors: { code: string; ref?: string; refType?: string }[] = [];
  #pong: string | undefined;
  #bad: number[] = [];
  #lastSeq = 0;
  /** Tasks that the hub offered to it: what it says of them is heard. */
  readonly #offers: { task_id: string; attempt: number }[] = [];

  constructor(name: string, port: number, random: Random) {
    this.tally = { name, sent: 0, connections: 0, rows: 0, errors: {}, closes: {}, taken: new Map(), faults: [] };
    this.#port = port;
    this.#random = random;
  }

  /** Sends about `count` messages. */
  async shoot(count: number): Promise<void> {
    const end = this.tally.sent + count;
    while (this.tally.sent < end && this.tally.faults.length < 20) {
      if (this.#socket === undefined || this.#socket.closed !== undefined) await this.#connect();
      await this.#group(this.#draw(end - this.tally.sent));
      if (this.#random.chance(0.005)) await this.leave();
    }
  }

  async leave(): Promise<void> {
    // What a turn has taken is told after its commit, which the pong of the same turn need not wait for; a second one does.
    if (this.#socket !== undefined && this.#socket.closed === undefined) await this.#sync();
    await this.#socket?.destroy();
    this.#socket = undefined;
  }

  /** Opens a connection and has it answered; while the hub still holds the last one of this name, it waits. */
  async #connect(): Promise<void> {
    for (let tries = 1; tries <= 200; tries += 1) {
      this.#level = this.#random.chance(0.7) ? 1 : 0;
      this.#bad = [];
      this.#socket = await RawSocket.open(this.#port, this.#address(), (heard) => this.#hear(heard));
      if (this.#socket === undefined) throw new Error(`${this.tally.name} was refused at the door`);
      if (this.#level === 1) this.#write({ type: 'hello', payload: { v: 1, roles: ['coder'], max_concurrency: 2 } });
      if (await this.#sync()) {
        this.tally.connections += 1;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`${this.tally.name} does not get its name back`);
  }

  #address(): string {
    const version = this.#level === 1 ? '&v=1' : '';
    return `/?agent=${this.tally.name}${version}${this.#random.chance(0.3) ? '&role=coder' : ''}`;
  }

  /** Messages to be sent at once: many when none of them can end the connection, else a single one. */
  #draw(most: number): Shot[] {
    const room = BAD - this.#bad.filter((time) => time > performance.now() - WINDOW_MS).length;
    const shots: Shot[] = [];
    const wanted = Math.min(most, this.#random.chance(0.3) ? 1 : this.#random.between(2, 32), Math.max(1, room));
    while (shots.length < wanted) {
      const shot = this.#one();
      if (shot === undefined) continue;
      const risky = shot.reading.kind === 'invalid' || shot.reading.type === 'bye' || shot.reading.type === 'hello';
      if (!risky) shots.push(shot);
      else if (shots.length === 0) return [shot];
    }
    return shots;
  }

  #one(): Shot | undefined {
    const random = this.#random;
    this.#number += 1;
    const frame = validFrame(random, this.tally.name, this.#number);
    if (frame.type === 'ack' && random.chance(0.8)) frame.payload = { seq: this.#lastSeq };
    if (String(frame.type).startsWith('task.') && frame.type !== 'task.assign' && random.chance(0.7)) {
      Object.assign(frame, random.pick(this.#offers.slice(-4)));
    }
    if (random.chance(0.003)) return { bytes: violation(Buffer.from('{}'), random), reading: { kind: 'invalid' } };
    const bytes = random.chance(0.002) ? hugeFrame(frame, random) : mutate(frame, random);
    const reading = readAs(bytes);
    if (random.chance(0.01) && reading.kind !== 'invalid')
      return { bytes: asBinary(bytes), reading: { kind: 'unreadable' } };
    // At level 0 nobody is told that a frame was a repeat, so there are none.
    if (reading.id !== undefined && this.#level === 0 && this.#used.has(reading.id)) return undefined;
    if (reading.id !== undefined) this.#used.add(reading.id);
    return { bytes: asText(bytes, random), reading };
  }

  async #group(shots: readonly Shot[]): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#errors = [];
    this.tally.sent += shots.length;
    const bytes = Buffer.concat(shots.map((shot) => shot.bytes));
    const cut = this.#random.chance(0.2) ? this.#random.int(bytes.length) : bytes.length;
    socket.write(bytes.subarray(0, cut));
    if (cut < bytes.length) {
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(bytes.subarray(cut));
    }
    const synced = await this.#sync();
    this.#account(shots, synced);
  }

  /** Waits until everything sent before was handled and answered; false when the connection ended first. */
  async #sync(): Promise<boolean> {
    const socket = this.#socket;
    this.#marks += 1;
    const mark = `mark-${this.#marks}`;
    this.#pong = undefined;
    this.#write({ type: 'ping', payload: mark });
    while (this.#pong !== mark) {
      if (socket === undefined || socket.closed !== undefined) {
        this.#count(this.tally.closes, String(socket?.closed));
        return false;
      }
      if (!(await socket.next(PATIENCE))) throw new Error(`${this.tally.name}: the hub does not answer any more`);
    }
    return true;
  }

  #account(shots: readonly Shot[], synced: boolean): void {
    const { tally } = this;
    for (const { code } of this.#errors) {
      this.#count(tally.errors, code);
      if (code === 'internal')
        tally.faults.push(`${tally.name}: the hub failed at one of ${shots.map(inShort).join(' | ')}`);
    }
    const refused = this.#errors.filter(({ refType }) => refType !== undefined && isLoggable(refType));
    const loggable = shots.filter(({ reading }) => reading.kind === 'loggable');
    const lost = synced || this.#errors.length > 0 ? 0 : shots.length;
    if (!synced && shots.length > 1) {
      tally.faults.push(
        `${tally.name}: the connection ended (${this.#socket?.closed}) at ${shots.map(inShort).join(' | ')}`,
      );
    }
    if (lost === 0) tally.rows += loggable.length - refused.length;
    const unreadable = shots.filter(({ reading }) => reading.kind === 'unreadable').length;
    const nameless = this.#errors.filter(({ refType }) => refType === undefined).length;
    if (synced && nameless !== unreadable) {
      tally.faults.push(
        `${tally.name}: ${unreadable} unreadable, ${nameless} errors: ${shots.map(inShort).join(' | ')}`,
      );
    }
    const refs = new Set(this.#errors.flatMap(({ ref }) => ref ?? []));
    // What is refused because its id is too long is named by the beginning of it.
    const isRefused = (id: string): boolean => refs.has(id.slice(0, 128));
    for (const { reading } of loggable) {
      if (synced && reading.id !== undefined && reading.value !== undefined && !isRefused(reading.id)) {
        tally.taken.set(reading.id, reading.value);
      }
    }
  }

  #hear({ opcode, payload }: Heard): void {
    if (opcode !== 1) return;
    const frame = JSON.parse(payload.toString()) as {
      type: string;
      seq?: number;
      ref?: string;
      task_id?: string;
      attempt?: number;
      payload?: { code?: string; ref_type?: string; duplicates?: string[] };
    };
    this.#lastSeq = frame.seq ?? this.#lastSeq;
    switch (frame.type) {
      case 'welcome':
        this.#level = 1;
        return;
      case 'error': {
        const { code = '', ref_type: refType } = frame.payload ?? {};
        this.#errors.push({
          code,
          ...(refType !== undefined && { refType }),
          ...(frame.ref !== undefined && { ref: frame.ref }),
        });
        this.#bad.push(performance.now());
        return;
      }
      case 'accepted':
        // Counted as taken when they were sent, since only this tells.
        this.tally.rows -= frame.payload?.duplicates?.length ?? 0;
        return;
      case 'task.assign':
        this.#offers.push({ task_id: frame.task_id ?? '', attempt: frame.attempt ?? 1 });
        return;
      case 'pong':
        this.#pong = frame.payload as unknown as string;
        return;
      default:
        return;
    }
  }

  #write(frame: Record<string, unknown>): void {
    const full = { from: this.tally.name, to: 'hub', task_id: '', ...frame };
    this.#socket?.write(encode({ opcode: 1, payload: Buffer.from(JSON.stringify(full)) }));
  }

  #count(counts: Record<string, number>, key: string): void {
    counts[key] = (counts[key] ?? 0) + 1;
  }
}

function inShort({ bytes, reading }: Shot): string {
  return `${reading.kind} ${JSON.stringify(bytes.subarray(0, 300).toString('latin1'))}${reading.value ? JSON.stringify(reading.value).slice(0, 300) : ''}`;
}
