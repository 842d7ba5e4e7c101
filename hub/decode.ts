import type { ErrorCode, Frame } from '../protocol/index.ts';
import { frames, isFrameType, looseEnvelope, PROTOCOL_VERSION } from '../protocol/index.ts';
import type { HubLimits } from './options.ts';

/** A frame as it came (`raw`, unknown keys kept) and as the schema read it (`frame`, defaults filled in). */
export interface Decoded {
  readonly frame: Frame;
  readonly raw: Readonly<Record<string, unknown>>;
  /** The frame as it came; undefined when keys had to be filled in. */
  readonly text: string | undefined;
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
  if (isBinary) return { code: 'bad_frame', message: 'frames are text' };
  if (data.length > limits.maxBytes) {
    return {
      code: 'too_large',
      message: `a frame is at most ${limits.maxBytes} bytes; hand large things on by path or ref`,
    };
  }
  const text = data.toString('utf8');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { code: 'bad_json', message: 'a frame is one JSON object' };
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return { code: 'bad_frame', message: 'a frame is one JSON object' };
  }
  const sent = parsed as Record<string, unknown>;
  const fault =
    flaw(sent, limits.depth) ?? (Object.keys(sent).length > limits.keys ? `more than ${limits.keys} keys` : undefined);
  if (fault !== undefined) return { code: 'bad_frame', message: fault, ...namesOf(sent) };
  const read = check(sent, level);
  if ('code' in read) return read;
  return { ...read, text: read.raw === parsed ? text : undefined };
}

function check(sent: Record<string, unknown>, level: 0 | 1): Pick<Decoded, 'frame' | 'raw'> | Unreadable {
  const named = namesOf(sent);
  if (typeof sent.type !== 'string') return { code: 'bad_frame', message: 'type: a string is needed', ...named };
  if (!isFrameType(sent.type)) {
    return {
      code: 'unknown_type',
      message: `this hub knows no frame of type ${JSON.stringify(named.refType)}`,
      ...named,
    };
  }
  if (sent.v !== undefined && sent.v !== PROTOCOL_VERSION) {
    return { code: 'unsupported_version', message: `this hub speaks v=${PROTOCOL_VERSION}`, ...named };
  }
  const raw = level === 0 && !five.every((key) => key in sent) ? fillIn(sent) : sent;
  const read = frames[sent.type].safeParse(raw);
  if (read.success) return { frame: read.data as Frame, raw };
  const envelope = looseEnvelope.safeParse(raw);
  const issue = (envelope.success ? read : envelope).error?.issues[0];
  return { code: 'bad_frame', message: `${issue?.path.join('.') || 'frame'}: ${issue?.message}`, ...named };
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

/** Nesting beyond `depth`, or a key that would reach a prototype when somebody copies the object. */
function flaw(value: object, depth: number): string | undefined {
  if (depth === 0) return 'nested too deeply';
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = typeof item === 'object' && item !== null ? flaw(item, depth - 1) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') return 'the key __proto__ is not allowed';
    const found = typeof item === 'object' && item !== null ? flaw(item, depth - 1) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
