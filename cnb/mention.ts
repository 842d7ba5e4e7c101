import { maskCode, maskQuiet } from './markdown.ts';

/** Who an NPC is on CNB: the repository that defines the role, and the role's name. */
export interface NpcIdentity {
  readonly slug?: string;
  readonly name: string;
}

/** A mention of an NPC in the form that CNB stores. CodeBuddy, the platform's own, has no slug. */
export interface Mention extends NpcIdentity {
  readonly text: string;
}

const segment = String.raw`[\p{L}\p{N}_.-]+`;
const longForm = new RegExp(
  String.raw`@(?<slug>${segment}(?:\/${segment})+)[(（](?<name>[^()（）\r\n]*)[)）]|@CodeBuddy(?![\w/(（-])`,
  'gu',
);

/** The mentions that fire: in a plain paragraph, not in a quote, list, table, code, `<details>` or HTML comment. In order. */
export function liveMentions(markdown: string): readonly Mention[] {
  return mentionsIn(maskQuiet(markdown));
}

/** Every NPC mention outside code, whether it fires or not. In order. */
export function writtenMentions(markdown: string): readonly Mention[] {
  return mentionsIn(maskCode(markdown));
}

function mentionsIn(masked: string): readonly Mention[] {
  return [...masked.matchAll(longForm)].map((match) => {
    const { slug, name = '' } = match.groups ?? {};
    if (slug === undefined || slug === 'npc/CodeBuddy') return { text: match[0], name: 'CodeBuddy' };
    return { text: match[0], slug, name: name.trim() };
  });
}

/** Whether our mention stands anywhere outside code. */
export function isMentioned(self: NpcIdentity, markdown: string): boolean {
  return ownForms(self).some((form) => maskCode(markdown).search(form) >= 0);
}

/** The text that addresses us in `markdown`, without our mention; undefined when no live mention is ours. */
export function requestTo(self: NpcIdentity, markdown: string): string | undefined {
  const masked = maskQuiet(markdown);
  return ownForms(self).some((form) => masked.search(form) >= 0) ? stripMention(self, markdown) : undefined;
}

/** Removes our mention, long (`@team/agents(Agent)`) and short (`@Agent`), wherever it stands outside code. Others' mentions stay. */
export function stripMention(self: NpcIdentity, markdown: string): string {
  const masked = maskCode(markdown);
  const found = ownForms(self)
    .flatMap((form) => [...masked.matchAll(form)])
    .sort((a, b) => b.index - a.index);
  let text = markdown;
  for (const { index, 0: mention } of found) {
    const before = text.slice(0, index);
    const after = text.slice(index + mention.length);
    const lineStart = /(?:^|\n)[ \t]*$/.test(before);
    text = lineStart
      ? before.trimEnd() + newlines(before) + after.replace(/^[ \t]*[,，:：、;；]?[ \t]*/, '')
      : before + after;
  }
  return text.replace(/(?<=\S) {2,}(?=\S)/g, ' ').trim();
}

function newlines(text: string): string {
  return /\s*$/.exec(text)?.[0].replace(/[^\n]/g, '') ?? '';
}

function ownForms(self: NpcIdentity): readonly RegExp[] {
  const name = literal(self.name);
  // Any role of our own repository is us: CNB falls back to the default role when a name is unknown.
  const long =
    self.slug === undefined
      ? `${segment}(?:\\/${segment})+[(（]\\s*${name}\\s*[)）]`
      : `${literal(self.slug)}[(（][^()（）\\r\\n]*[)）]`;
  return [new RegExp(`@${long}`, 'giu'), new RegExp(`(?<![\\w.+-])@${name}(?![\\w/(（-])`, 'gu')];
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
