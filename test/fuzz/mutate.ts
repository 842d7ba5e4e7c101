import { isUtf8 } from 'node:buffer';
import type { Random } from '../helpers/random.ts';

/** Values that programs trip over. */
const awkward: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  -1e-308,
  2 ** 53,
  2 ** 31,
  1.5,
  '',
  ' ',
  'hub',
  '*',
  '__proto__',
  'constructor',
  'a'.repeat(300),
  '\ud800',
  '\u2028',
  [],
  {},
  [[[[]]]],
  { length: -1 },
  { toString: 1, constructor: { prototype: {} } },
];

const keys = [
  'type',
  'from',
  'to',
  'task_id',
  'payload',
  'id',
  'attempt',
  'v',
  'ref',
  'seq',
  'lsn',
  'ts',
  'meta',
  'prev',
  'redelivered',
];

/** The text of a frame, spoiled in one way or more; now and then not at all. */
export function mutate(frame: Record<string, unknown>, random: Random): Buffer {
  if (random.chance(0.5)) return Buffer.from(JSON.stringify(frame));
  let value = frame;
  const times = random.between(0, 2);
  for (let time = 0; time < times; time += 1) value = spoilValue(value, random);
  let text = JSON.stringify(value);
  if (random.chance(0.5)) text = spoilText(text, random);
  const bytes = Buffer.from(text);
  const spoiled = random.chance(0.25) ? spoilBytes(bytes, random) : bytes;
  // Bytes that are no text end the connection: some are enough.
  return isUtf8(spoiled) || random.chance(0.2) ? spoiled : bytes;
}

/** Changes the object: what is missing, wrong, too many or too deep. */
function spoilValue(frame: Record<string, unknown>, random: Random): Record<string, unknown> {
  const own = random.pick(Object.keys(frame).length > 0 ? Object.keys(frame) : keys);
  switch (random.int(8)) {
    case 0:
      return { ...frame, [own]: random.pick(awkward) };
    case 1:
      return { ...frame, [random.pick(keys)]: random.pick(awkward) };
    case 2: {
      const { [own]: _gone, ...rest } = frame;
      return rest;
    }
    case 3:
      return { ...frame, payload: nested(random.between(1, 200), random.chance(0.5)) };
    case 4:
      return {
        ...frame,
        ...Object.fromEntries(Array.from({ length: random.pick([3, 999, 1100]) }, (_, n) => [`k${n}`, n])),
      };
    case 5: {
      const payload = frame.payload;
      if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return { ...frame, payload: {} };
      const inner = random.pick([...Object.keys(payload), 'status', 'extra']);
      return { ...frame, payload: { ...payload, [inner]: random.pick(awkward) } };
    }
    case 6:
      return {
        ...frame,
        type: random.pick(['route', 'task.result', 'task.assign', 'ack', 'ping', 'stale_result', 'launch', 'ROUTE']),
      };
    default:
      return { ...frame, task_id: random.pick(['a b', '../..', 'x'.repeat(129), 'run.1', ':', '']) };
  }
}

function nested(depth: number, lists: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = lists ? [value] : { in: value };
  return value;
}

/** Changes the text: what JSON.stringify would not write. */
function spoilText(text: string, random: Random): string {
  const key = random.pick(keys);
  const extra = JSON.stringify(random.pick(awkward));
  switch (random.int(10)) {
    case 8:
      return text.replace(
        '"payload":{',
        `"payload":{"${random.pick(['status', 'goal', 'question', 'text'])}":${extra},`,
      );
    case 0:
      return text.replace('{', `{"${key}":${extra},`);
    case 1:
      return `${text.slice(0, -1)},"${key}":${extra}}`;
    case 2:
      return text.replace('{', `{"\\u00${key.charCodeAt(0).toString(16)}${key.slice(1)}":${extra},`);
    case 3:
      return text.replace('{', '{"__proto__":{"polluted":true},');
    case 4:
      return `${random.pick([' ', '\n\t', '\ufeff'])}${text}${random.pick(['', ' ', '\n', ',', '{}', '\u0000'])}`;
    case 5:
      return text.replace(/\d+/, random.pick(['1e999', '-0', '01', '1e-999', '99999999999999999999', 'NaN']));
    case 6:
      return text.slice(0, random.int(text.length));
    case 7:
      return text.replaceAll('"', random.pick(['"', "'", '\\"', '']));
    default:
      return text.replaceAll(':', random.pick([': ', ' :\n', '::']));
  }
}

/** Changes the bytes, whatever they mean. */
function spoilBytes(bytes: Buffer, random: Random): Buffer {
  const spoiled = Buffer.from(bytes);
  for (let time = random.between(1, 4); time > 0 && spoiled.length > 0; time -= 1) {
    const place = random.int(spoiled.length);
    spoiled[place] = random.chance(0.5) ? (spoiled[place] as number) ^ (1 << random.int(8)) : random.int(256);
  }
  return random.chance(0.2) ? Buffer.concat([spoiled, spoiled.subarray(random.int(spoiled.length + 1))]) : spoiled;
}

/** A frame near one of the limits of size: most are refused, and some end the connection. */
export function hugeFrame(frame: Record<string, unknown>, random: Random): Buffer {
  const limit = random.pick([512 * 1024, 512 * 1024, 1024 * 1024]);
  const size = limit + random.pick([-1, 0, 1, random.between(-2000, 2000), 100_000]);
  const bare = Buffer.byteLength(JSON.stringify({ ...frame, type: 'route', payload: '' }));
  return Buffer.from(JSON.stringify({ ...frame, type: 'route', payload: 'x'.repeat(Math.max(0, size - bare)) }));
}
