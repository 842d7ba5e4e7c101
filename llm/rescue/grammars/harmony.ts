import type { Channel } from '../block.ts';
import { messageEnd } from '../control-tokens.ts';
import { type Cursor, isSpace, isWord, NOTHING, nextSolid, type Parse, readName } from '../cursor.ts';
import { passCloser, readArguments } from '../json-units.ts';
import { anyOf, before, MORE, match, type Pattern, repeat, sequence, word } from '../patterns.ts';
import type { Grammar } from './grammar.ts';

const gap = repeat(isSpace, 0, 8);
const role = sequence(word('<|start|>'), gap, word('assistant'));
const channelToken = word('<|channel|>');
const constrain = word('<|constrain|>');
const messageToken = word('<|message|>');
const close = anyOf(messageEnd, before(anyOf(word('<|start|>'), channelToken)));

const channels: Readonly<Record<string, Channel>> = { analysis: 'thinking', commentary: 'content', final: 'content' };

interface Header {
  /** `cut` = the text ended in it; `bad` = it is none. */
  state: 'whole' | 'cut' | 'bad';
  channel: string;
  recipient: string;
}

/** gpt-oss: a header with a recipient is a call; one without says where the text behind it belongs. */
export const harmony: Grammar = {
  format: 'gpt-oss',
  opener: anyOf(channelToken, role),
  *read(block) {
    const { cursor } = block;
    cursor.position = block.start;
    const header: Header = { state: 'bad', channel: '', recipient: '' };
    header.state = yield* readHeader(cursor, header);
    const { state, recipient } = header;
    if (state === 'bad') return false;
    if (state === 'whole' && recipient === '') {
      block.channel = channels[header.channel];
      return true;
    }
    if (block.tools.none) return false;
    if (state === 'cut') block.cut(block.tools.resolve(recipient));
    else {
      yield* readArguments(block, recipient, close);
      yield* passCloser(cursor, messageEnd);
    }
    return true;
  },
};

function* readHeader(cursor: Cursor, header: Header): Parse<Header['state']> {
  const spoken = yield* match(cursor, role);
  if (spoken >= 0) {
    cursor.position = spoken;
    if (!(yield* readRecipient(cursor, header))) return 'cut';
  }
  const opened = yield* pass(cursor, channelToken);
  if (opened < 0) return opened === MORE ? 'cut' : 'bad';
  yield* nextSolid(cursor);
  header.channel = yield* readName(cursor);
  if (cursor.code(cursor.position) === NOTHING) return isChannelStart(header.channel) ? 'cut' : 'bad';
  if (!Object.hasOwn(channels, header.channel)) return 'bad';
  if (!(yield* readRecipient(cursor, header))) return 'cut';
  if ((yield* pass(cursor, constrain)) === MORE) return 'cut';
  if (isWord(yield* nextSolid(cursor))) yield* readName(cursor);
  const ended = yield* pass(cursor, messageToken);
  return ended >= 0 ? 'whole' : ended === MORE ? 'cut' : 'bad';
}

/** Reads `to=NAME` where there is one. False when the text ends here. */
function* readRecipient(cursor: Cursor, header: Header): Parse<boolean> {
  const marked = yield* pass(cursor, word('to='));
  if (marked === MORE) return false;
  if (marked >= 0) header.recipient = yield* readName(cursor);
  return (yield* nextSolid(cursor)) !== NOTHING;
}

/** Moves behind a token, white space before it apart, if it is there. */
function* pass(cursor: Cursor, token: Pattern): Parse<number> {
  yield* nextSolid(cursor);
  const end = yield* match(cursor, token);
  if (end >= 0) cursor.position = end;
  return end;
}

function isChannelStart(text: string): boolean {
  return Object.keys(channels).some((name) => name.startsWith(text));
}
