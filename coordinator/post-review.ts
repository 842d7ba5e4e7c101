import type { Issue } from '../protocol/index.ts';
import { once } from './effects.ts';
import type { Forge } from './forge.ts';
import type { Journal } from './journal.ts';

/** Inline remarks that one review may have. */
const MOST_INLINE = 10;

interface PostReviewOptions {
  readonly journal: Journal;
  /** Absent where there is no pull request to review. */
  readonly forge: Forge | undefined;
  readonly issues: readonly Issue[];
}

/** Posts a review's remarks: those with a line as inline comments, ten at most; the rest become notes of the run's comment. */
export async function postReview({ journal, forge, issues }: PostReviewOptions): Promise<void> {
  const placed = issues.flatMap(({ path, line, message }) =>
    path !== undefined && line !== undefined ? [{ path, line, body: message }] : [],
  );
  const inline = forge ? [...journal.record.inline, ...placed].slice(0, MOST_INLINE) : [];
  const shown = new Set(inline.map(({ body }) => body));
  for (const { path, line, message } of issues) {
    if (shown.has(message)) continue;
    const place = path === undefined ? '' : `\`${path}${line === undefined ? '' : `:${line}`}\` `;
    const body = `${place}${message}`;
    if (!journal.record.notes.some((note) => note.body === body))
      await journal.write({ type: 'comment.noted', by: 'reviewer', body });
  }
  if (!forge || inline.length === 0) return;
  await once(journal, {
    key: 'review',
    kind: 'review',
    content: JSON.stringify(inline),
    find: async () => undefined,
    act: async () => {
      await forge.postReview({ body: '', event: 'comment', comments: inline });
      return inline.length;
    },
  });
}
