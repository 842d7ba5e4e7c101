import type { ErrorCode, Frame } from '../protocol/index.ts';
import { frames, isFrameType, looseEnvelope, PROTOCOL_VERSION } from '../protocol/index.ts';
import { faultOf } from './frame-words.ts';
import { type JsonScan, scanJson } from './json-scan.ts';
import type { HubLimits } from './options.ts';
import { plainAck, plainRoute } from './plain-frames.ts';

/** A frame as it came (`raw`, unknown keys kept) and as the schema read it (`frame`, defaults filled in). */
export interface Decoded {
  readonly frame: Frame;
  readonly raw: Readonly<Record<string, unknown>>;
  /**
   * The frame byte for byte, when it means one thing only and can be stored and sent on so, but for an `id` that is still
   * missing; undefined when a key comes twice, a key or a text of the envelope is spelled with an escape, a key is the hub's
   * to set or had to be filled in, or the frame is more than one line.
   */
  readonly bytes: Buffer | undefined;
}

/** Why a frame cannot be read; `ref` and `refType` name it as far as it could be read. */
export interface Unreadable {
  readonly code: ErrorCode;
  readonly message: string;
  readonly ref?: string;
  readonly refType?: string;
}

/** Reads one frame. A level-0 peer may leave out `from`, `to`, `task_id` and `payload`. Never throws. */
export function decode(data: Buffer, isBinary: boolean, level: 0 | 1, limits: HubLimits): Decoded | Unreadable {
  if (isBinary) return { code: 'bad_frame', message: 'a binary frame came; send JSON as text' };
  if (data.length > limits.maxBytes) {
    return {
      code: 'too_large',
      message: `a frame of ${data.length} bytes came; send ${limits.maxBytes} or less, and hand large things on by path or ref`,
    };
  }
  const text = data.toString('utf8');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { code: 'bad_json', message: `${begin(text)} is not JSON; send one JSON object a frame` };
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { code: 'bad_frame', message: `${begin(text)} is not an object; send one JSON object a frame` };
  }
  const sent = parsed as Record<string, unknown>;
  const scan = scanJson(text);
  const keys = Object.keys(sent).length;
  const fault = flaw(sent, scan, keys, limits);
  if (fault !== undefined) return { code: 'bad_frame', message: fault, ...namesOf(sent) };
  const clear = isClear(data, scan, keys);
  const plain = plainRoute(sent, keys) ?? plainAck(sent, keys);
  if (plain !== undefined) return { frame: plain, raw: sent, bytes: clear ? data : undefined };
  const read = check(sent, level);
  if ('code' in read) return read;
  return { ...read, bytes: clear && read.raw === sent && !hasHubKey(sent) ? data : undefined };
}

/** About how many bytes a frame has. */
export function sizeOf({ bytes, raw }: Decoded): number {
  return bytes?.length ?? JSON.stringify(raw).length;
}

function flaw(sent: object, scan: JsonScan, keys: number, limits: HubLimits): string | undefined {
  if (scan.depth > limits.depth)
    return `the frame is nested ${scan.depth} deep; send ${limits.depth} or less, or the inner part as a text`;
  if (scan.suspicious && hasProto(sent)) return 'the key __proto__ came; leave it out or name it otherwise';
  return keys > limits.keys
    ? `the frame has ${keys} keys; send ${limits.keys} or less, and the rest in payload`
    : undefined;
}

/**
 * Whether every reader takes it for the same, and finds in its bytes what it says: no key twice, no key or text of the
 * envelope spelled in another way, one line, and the brace at its end.
 */
function isClear(data: Buffer, scan: JsonScan, keys: number): boolean {
  return scan.keys === keys && !scan.escaped && data[data.length - 1] === 0x7d && isOneLine(data);
}

/** A raw control character in JSON stands between its tokens and is one of these; each is found faster alone. */
function isOneLine(data: Buffer): boolean {
  return !data.includes(0x0a) && !data.includes(0x0d) && !data.includes(0x09);
}

const hubKeys = ['seq', 'prev', 'lsn', 'ts', 'redelivered'] as const;

function hasHubKey(raw: Readonly<Record<string, unknown>>): boolean {
  return hubKeys.some((key) => raw[key] !== undefined);
}

function check(sent: Record<string, unknown>, level: 0 | 1): Pick<Decoded, 'frame' | 'raw'> | Unreadable {
  const named = namesOf(sent);
  const { type } = sent;
  if (typeof type !== 'string') {
    const message = faultOf({ code: 'invalid_type', expected: 'string', path: ['type'], message: '' }, sent);
    return { code: 'bad_frame', message, ...named };
  }
  if (!isFrameType(type)) {
    return {
      code: 'unknown_type',
      message: `type: ${JSON.stringify(named.refType)} is none that this hub knows; what you make up goes into a route or a task.event`,
      ...named,
    };
  }
  if (sent.v !== undefined && sent.v !== PROTOCOL_VERSION) {
    return {
      code: 'unsupported_version',
      message: `v: ${begin(JSON.stringify(sent.v))} came; this hub speaks v=${PROTOCOL_VERSION}`,
      ...named,
    };
  }
  const raw = level === 0 && !five.every((key) => key in sent) ? fillIn(sent) : sent;
  const read = frames[type].safeParse(raw);
  if (read.success) return { frame: read.data as Frame, raw };
  const envelope = looseEnvelope.safeParse(raw);
  const issue = (envelope.success ? read : envelope).error?.issues[0];
  const message = issue === undefined ? 'the frame cannot be read' : faultOf(issue, raw);
  return { code: 'bad_frame', message, ...named };
}

/** How a text begins, as JSON. */
function begin(text: string): string {
  return text === '' ? 'nothing' : JSON.stringify(text.length <= 40 ? text : `${text.slice(0, 40)}…`);
}

/** Id and type of a frame that is refused: its sender waits for word of this one, and would take silence for consent. */
function namesOf({ id, type }: Record<string, unknown>): Pick<Unreadable, 'ref' | 'refType'> {
  return {
    ...(typeof id === 'string' && { ref: id.slice(0, 128) }),
    ...(typeof type === 'string' && { refType: type.slice(0, 64) }),
  };
}

const five = ['type', 'from', 'to', 'task_id', 'payload'];

function fillIn(sent: Record<string, unknown>): Record<string, unknown> {
  return { from: '', to: 'hub', task_id: '', payload: undefined, ...sent };
}

/** Whether a key would reach a prototype when somebody copies the object. */
function hasProto(value: object): boolean {
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) return true;
  return Object.values(value).some((item) => typeof item === 'object' && item !== null && hasProto(item));
}
