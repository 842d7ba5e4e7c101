import type { Random } from '../helpers/random.ts';
import { encode } from './raw-socket.ts';

const TEXT = 1;
const BINARY = 2;
const CONTINUATION = 0;
const PING = 9;
const PONG = 10;

/** A message on the wire: in one frame, or in pieces with control frames in between. */
export function asText(payload: Buffer, random: Random): Buffer {
  if (random.chance(0.85)) return encode({ opcode: TEXT, payload });
  const pieces: Buffer[] = [];
  let place = 0;
  for (let first = true; first || place < payload.length; first = false) {
    const end = random.chance(0.3) ? payload.length : place + random.int(payload.length - place + 1);
    const fin = end === payload.length;
    pieces.push(encode({ opcode: first ? TEXT : CONTINUATION, payload: payload.subarray(place, end), fin }));
    if (fin) break;
    place = end;
    if (random.chance(0.3)) pieces.push(encode({ opcode: random.pick([PING, PONG]), payload: Buffer.from('x') }));
  }
  return Buffer.concat(pieces);
}

/** The same bytes as a binary message, which is no frame of ours. */
export function asBinary(payload: Buffer): Buffer {
  return encode({ opcode: BINARY, payload });
}

/** Bytes after which a server has to end the connection, or that say themselves that it is over. */
export function violation(payload: Buffer, random: Random): Buffer {
  const text = { opcode: TEXT, payload };
  switch (random.int(12)) {
    case 0:
      return encode({ ...text, reserved: random.between(1, 7) });
    case 1:
      return encode({ ...text, masked: false });
    case 2:
      return encode({ ...text, opcode: random.pick([3, 4, 5, 6, 7, 11, 15]) });
    case 3:
      return encode({ ...text, opcode: CONTINUATION });
    case 4:
      return encode({ opcode: PING, payload: Buffer.alloc(126) });
    case 5:
      return encode({ opcode: PING, payload: Buffer.from('x'), fin: false });
    case 6:
      return encode({ ...text, payload: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]) });
    case 7:
      return encode({ ...text, length: random.pick([1n << 63n, (1n << 53n) + 1n, 2n * 1024n * 1024n]) });
    case 8:
      return Buffer.concat([encode({ ...text, fin: false }), encode(text)]);
    case 9:
      return encode({
        opcode: 8,
        payload: random.pick([Buffer.alloc(0), Buffer.from([3]), closing(1005), closing(1000), closing(4999)]),
      });
    case 10:
      return encode({ opcode: 8, payload: Buffer.concat([closing(1000), Buffer.from([0xff, 0xff])]) });
    default:
      return encode({ ...text, payload: Buffer.alloc(1024 * 1024 + 1 + random.int(1000), 'x') });
  }
}

function closing(code: number): Buffer {
  return Buffer.from([code >> 8, code & 255]);
}
