import type { FakeComment, FakeIssue, FakePull, World } from './world.ts';

/** The page a person sees of a thread, as plain as can be; undefined when the path is none. */
export function threadPage(world: World, path: string): string | undefined {
  const parts = /^\/(?<slug>.+)\/-\/(?:issues|pulls)\/(?<number>\d+)$/.exec(path)?.groups;
  const thread = world.repositories.get(parts?.slug?.toLowerCase() ?? '')?.threads.get(parts?.number ?? '');
  if (!thread) return undefined;
  const title = `${thread.title} · ${thread.kind === 'issue' ? 'issue' : 'pull request'} ${thread.number}`;
  return `<!doctype html><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:15px/1.5 system-ui;max-width:52rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;background:#8881;padding:1rem}</style>
<h1>${escapeHtml(title)}</h1><p>${thread.state}${branches(thread)}</p>
<pre>${escapeHtml(thread.body)}</pre>
${commentsOf(thread).map(commentBlock).join('\n')}`;
}

function branches(thread: FakeIssue | FakePull): string {
  return thread.kind === 'pr' ? escapeHtml(`, ${thread.head.branch} into ${thread.base}`) : '';
}

function commentsOf(thread: FakeIssue | FakePull): readonly FakeComment[] {
  const reviews = thread.kind === 'pr' ? thread.reviews.flatMap((review) => [review, ...review.comments]) : [];
  return [...thread.comments, ...reviews].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
}

function commentBlock(comment: FakeComment): string {
  const edited = comment.edits.length > 1 ? `, edited ${comment.edits.length - 1} times` : '';
  return `<h3>${escapeHtml(comment.author.username)}</h3><p>${comment.createdAt}${edited}</p><pre>${escapeHtml(comment.body)}</pre>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
