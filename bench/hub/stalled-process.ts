/** A level-1 sender, and a reader that stops reading. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { answer } from '../answer.ts';
import { buildFrame } from './frames.ts';
import { levelOneFrame, numberAfter, openLevelOneSocket, type Resume } from './links/level-one-socket.ts';

const UPTO = Buffer.from('"upto":');
const SEQ = Buffer.from('"seq":');
const NUMBER = Buffer.from('"task_id":"bench.');

/** Frames that are not yet accepted, and bytes in the sender's buffer, at most. */
const INFLIGHT = 256;
const BUFFERED = 1024 * 1024;

let port = 0;
let sender: { socket: WebSocket; sent: number; upto: number };
let reader: WebSocket;
let point: Resume | undefined;
let number = 0;
let closed = false;
const got = { received: 0, repeated: 0, inOrder: true };

const handlers = {
  connect: async (hub: number): Promise<void> => {
    port = hub;
    const opened = await openLevelOneSocket(port, 'a');
    sender = { socket: opened.socket, sent: 1, upto: 1 };
    sender.socket.on('message', (data: Buffer) => {
      sender.upto = numberAfter(data, UPTO) ?? sender.upto;
    });
    await openReader();
  },
  /** Stops reading, down to the socket. */
  pause: () => reader.pause(),
  /** Sends messages and resolves when all of them are accepted. */
  send: async ({ messages, bytes }: { messages: number; bytes: number }): Promise<{ seconds: number }> => {
    const begun = performance.now();
    const { socket } = sender;
    const frames = frameWriter(bytes);
    await new Promise<void>((resolve, reject) => {
      let left = messages;
      const fill = () => {
        for (; left > 0 && sender.sent - sender.upto < INFLIGHT && socket.bufferedAmount < BUFFERED; left -= 1) {
          number += 1;
          sender.sent += 1;
          socket.send(frames(number));
        }
        if (left === 0 && sender.sent === sender.upto) {
          socket.off('message', look);
          resolve();
        }
      };
      const look = (data: Buffer) => {
        if (data.includes('"error"')) reject(new Error(`the hub said ${data}`));
        fill();
      };
      socket.on('message', look);
      fill();
    });
    return { seconds: (performance.now() - begun) / 1000 };
  },
  /** Reads again, over the same connection where it is still there, otherwise, or when `cut`, by a session that is resumed. */
  readAgain: async ({ cut }: { cut: boolean }): Promise<{ resumed: boolean }> => {
    if (cut) reader.terminate();
    else reader.resume();
    if (!cut && !closed) return { resumed: false };
    if (!closed) await once(reader, 'close');
    await openReader(point);
    return { resumed: true };
  },
  /** Resolves when `count` messages were read in all. */
  read: async (count: number): Promise<typeof got> => {
    while (got.received < count) {
      if (closed) throw new Error(`the reader was closed after ${got.received} messages`);
      await delay(10);
    }
    return got;
  },
};
export type StalledHandlers = typeof handlers;

async function openReader(resume?: Resume): Promise<void> {
  let unacked = 0;
  let opened: WebSocket | undefined;
  const hear = (data: Buffer) => {
    const seq = numberAfter(data, SEQ);
    if (seq === undefined) return;
    // As our own client: what comes again is dropped before anybody sees it.
    if (seq <= (point?.seq ?? 0)) got.repeated += 1;
    else take(data, seq);
    unacked += 1;
    if (opened === undefined || (unacked < 16 && got.received < number)) return;
    unacked = 0;
    opened.send(levelOneFrame('b', 'ack', `{"seq":${seq}}`));
  };
  const { socket, welcome } = await openLevelOneSocket(port, 'b', resume, hear);
  const { session, resume_token, epoch } = welcome;
  reader = socket;
  opened = socket;
  closed = false;
  point = { session, resume_token, epoch, seq: point?.seq ?? 0 };
  socket.on('close', () => {
    closed = true;
  });
}

function take(data: Buffer, seq: number): void {
  if (point !== undefined) point = { ...point, seq };
  got.received += 1;
  if (numberAfter(data, NUMBER) !== got.received) got.inOrder = false;
}

/** Frames of one size that differ in id and number. */
function frameWriter(bytes: number): (number: number) => string {
  const frame = buildFrame({ from: 'a', to: 'b', bytes: bytes - 7, levelOne: true });
  const task = frame.indexOf('bench.1');
  const id = frame.indexOf('"id":"') + '"id":"'.length;
  return (count) => {
    const digits = String(count).padStart(8, '0');
    return `${frame.slice(0, id)}${digits}${frame.slice(id + 8, task)}bench.${digits}${frame.slice(task + 7)}`;
  };
}

answer(handlers, () => undefined);
