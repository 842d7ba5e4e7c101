import type { FrameOf, ResumePoint } from '../protocol/index.ts';
import type { Agent } from './agents.ts';
import type { Mailbox } from './mailbox.ts';
import type { SessionRecord, Storage, StoredMessage } from './storage.ts';
import { tokenHash } from './tokens.ts';

/** What is made of a `hello`. */
export interface Resume {
  /** What the client is told. */
  readonly state: FrameOf<'welcome'>['payload']['resume'];
  /** The session goes on, and with it its attempts. */
  readonly kept: boolean;
  /** The client showed the token of the session. */
  readonly own: boolean;
}

/** The token is what counts: after a gap the same client has a new session, and may not have heard of it. */
export function isOwn(session: SessionRecord | undefined, point: ResumePoint | undefined): boolean {
  return session !== undefined && point !== undefined && tokenHash(point.resume_token) === session.tokenHash;
}

/**
 * Whether a session goes on where its client stands, or something lies between; moves its mailbox, which nobody is
 * attached to, to where the client stands.
 */
export async function judgeResume(agent: Agent | undefined, point: ResumePoint, storage: Storage): Promise<Resume> {
  const own = isOwn(agent?.session, point);
  const mailbox = agent?.mailbox;
  const gap = (reason: string, kept = false, to = Math.max(mailbox?.last ?? 0, mailbox?.acked ?? 0)): Resume => ({
    state: { state: 'gap', from: point.seq, to, reason },
    kept,
    own,
  });
  if (point.epoch !== storage.epoch) return gap('the log is another one');
  if (mailbox === undefined || !own) return gap('the session is not known');
  // What was never sent can only come from a log that went on after this one was copied: positions are used again in it.
  if (point.seq > (await storage.lastLsn()) || (point.seq > mailbox.acked && isNews(mailbox, point.seq)))
    return gap('the log is an older copy, in which this position was not sent yet', false, mailbox.acked);
  if (point.seq > mailbox.acked) {
    const had = await between(mailbox, point.seq, storage);
    if (had.at(-1)?.lsn !== point.seq) return gap('the position is not of this mailbox');
    mailbox.pass(had);
  } else if (point.seq < mailbox.acked) {
    const missing = await whatIsMissing(mailbox, point.seq, storage);
    if (missing !== undefined) return gap(missing, true);
  }
  return { state: { state: 'recovered' }, kept: true, own };
}

/** Whether a position lies among messages of the mailbox that were never sent to anybody. */
function isNews(mailbox: Mailbox, seq: number): boolean {
  return seq <= mailbox.last && !mailbox.mayHaveSent(seq);
}

/** The messages of a mailbox after its cursor, up to a position: no more than were ever under way. */
async function between(mailbox: Mailbox, seq: number, storage: Storage): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for (;;) {
    const page = await storage.mailbox(mailbox.name, found.at(-1)?.lsn ?? mailbox.acked, 16);
    const wanted = page.filter(({ lsn }) => lsn <= seq);
    found.push(...wanted);
    if (wanted.length === 0 || wanted.length < page.length) return found;
  }
}

/** What became of messages that a client did not have and the cursor has passed; undefined when there were none. */
async function whatIsMissing(
  { name, acked, used }: Mailbox,
  seq: number,
  storage: Storage,
): Promise<string | undefined> {
  const [next] = await storage.mailbox(name, seq, 1);
  if (next !== undefined && next.lsn <= acked) {
    const isDead = await storage.wasGivenUp(next.lsn);
    return `messages after this position ${isDead ? 'waited too long and are dead letters' : 'were acknowledged'}`;
  }
  // Its cursor began where the log stood.
  if (!used) return undefined;
  const isTrimmed = acked > 0 && (await storage.at(acked)) === undefined;
  return isTrimmed ? 'the log does not reach back to this position any more' : undefined;
}
