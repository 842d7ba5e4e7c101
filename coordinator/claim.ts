import { once } from './effects.ts';
import type { Author, Forge, ThreadComment } from './forge.ts';
import type { Journal } from './journal.ts';
import { doneEffect } from './record.ts';
import { readMarker, writeMarker } from './report/marker.ts';
import { renderPointer } from './report/render.ts';

export type Claim =
  | { readonly kind: 'ours'; readonly commentId: string; readonly author: Author }
  /** Somebody else stands for this run, or it is already answered; nothing is left to do. */
  | { readonly kind: 'taken'; readonly reason: string };

interface ClaimOptions {
  readonly forge: Forge;
  readonly journal: Journal;
  readonly language: 'zh-CN' | 'en';
  /** A person asked for a rebuild. */
  readonly isRetry: boolean;
  /** Text of the comment as it is first posted. */
  readonly body: string;
  readonly now: number;
  /** An earlier process of this run worked here and its log is lost: a live comment is our own. */
  readonly logLost: boolean;
}

interface Posted {
  readonly id: string;
  readonly author: Author;
}

/**
 * Makes this run the one that answers its trigger: takes over its comment from an earlier try, or posts it and yields to whoever
 * posted first. A marker counts only in a comment of our own author; before we know who that is, in one of any NPC.
 */
export async function claimThread(options: ClaimOptions): Promise<Claim> {
  const { forge, journal, now } = options;
  const known = doneEffect<Posted>(journal.record, 'comment:claim');
  if (known) return { kind: 'ours', commentId: known.id, author: known.author };

  const intended = journal.record.effects.has('comment:claim');
  const before = await ownComments(forge, journal.runKey);
  const standing = before[0];
  if (standing && !intended) {
    const marker = readMarker(standing.body);
    const abandoned = marker?.state === 'live' && (marker.liveUntil ?? 0) < now;
    const again = marker?.state === 'final' && options.isRetry && marker.verdict !== 'green';
    const ours = marker?.state === 'live' && options.logLost;
    if (!abandoned && !again && !ours)
      return { kind: 'taken', reason: `comment ${standing.id} already stands for this request (${marker?.state})` };
    const takenOver: Posted = { id: standing.id, author: standing.author };
    await journal.write({ type: 'effect.done', key: 'comment:claim', result: takenOver });
    return { kind: 'ours', commentId: standing.id, author: standing.author };
  }

  const posted = await once<Posted>(journal, {
    key: 'comment:claim',
    kind: 'comment',
    content: options.body,
    find: async () => {
      const found = (await ownComments(forge, journal.runKey))[0];
      return found && { id: found.id, author: found.author };
    },
    act: async () => {
      const comment = await forge.postComment(options.body);
      return { id: comment.id, author: comment.author };
    },
  });

  const rivals = (await ownComments(forge, journal.runKey)).filter(
    ({ author }) => author.username === posted.author.username,
  );
  const first = rivals[0];
  if (first && first.id !== posted.id && BigInt(first.id) < BigInt(posted.id)) {
    await forge.updateComment(posted.id, renderPointer(journal.runKey, options.language));
    return { kind: 'taken', reason: `comment ${first.id} was first` };
  }
  return { kind: 'ours', commentId: posted.id, author: posted.author };
}

/** Comments by NPCs that carry this run's key and stand for it, oldest first. */
async function ownComments(forge: Forge, runKey: string): Promise<ThreadComment[]> {
  const { comments } = await forge.readThread();
  return comments
    .filter(({ author, body }) => {
      const marker = readMarker(body);
      return author.isNpc && marker?.runKey === runKey && marker.state !== 'pointer';
    })
    .sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}

/** The comment's first text: the marker, so that others find it, and one line. */
export function firstBody(runKey: string, line: string, liveUntil: number): string {
  return `${writeMarker({ runKey, state: 'live', liveUntil })}\n${line}`;
}
