import { maskSpans } from './markdown.ts';

const segment = String.raw`[\p{L}\p{N}_.-]+`;
/** Whatever could be read as a mention: an NPC in its long form, or `@` and a name, path or Chinese word. */
const mentionLike = new RegExp(
  String.raw`@${segment}(?:\/${segment})+[(（][^()（）\r\n]*[)）]|@(?:[A-Za-z0-9_](?:[\w.-]*\w)?(?:\/[\w.-]*\w)*|\p{Script=Han}+)`,
  'gu',
);
/** A fenced block that surely is one: it starts at the margin and is closed; or an HTML comment at the margin, with its last line. */
const setApart = /^(?<fence>`{3,}(?=[^`\n]*$)|~{3,}).*\n(?:.*\n)*? {0,3}\k<fence>[`~]*[ \t]*$|^<!--[\s\S]*?-->.*$/gm;
/** After another fence or raw HTML nobody can tell where the next fence begins and ends. */
const doubtful = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:`{3}|~{3})|^ {0,3}<(?:pre|script|style|textarea|[?!])/im;
/** A tag opens raw HTML that reaches to the next blank line. */
const htmlBefore = /^ {0,3}<[^\n]*\n(?:[^\n]*\S[^\n]*\n)*(?![\s\S])/m;
const zeroWidthSpace = '\u200b';

/**
 * Makes a text of ours unable to mention anybody: what looks like a mention is put in code marks (in an address `%40`, in an HTML
 * comment `\u0040`, and a zero-width space where code marks could pair up with a stray backtick). Code and e-mail addresses stay as
 * they are. Applying it twice changes nothing more.
 */
export function neutraliseMentions(markdown: string): string {
  let text = '';
  let end = 0;
  let trusted = true;
  for (const { index, 0: block, groups } of markdown.matchAll(setApart)) {
    const prose = markdown.slice(end, index);
    trusted &&= !doubtful.test(prose);
    text += inProse(prose);
    if (groups?.fence === undefined) text += block.replace(mentionLike, (mention) => `\\u0040${mention.slice(1)}`);
    else text += trusted && !htmlBefore.test(prose) ? block : inProse(block);
    end = index + block.length;
  }
  return text + inProse(markdown.slice(end));
}

function inProse(prose: string): string {
  return prose
    .split(/(\n[ \t]*\n)/)
    .map((paragraph) => inParagraph(paragraph))
    .join('');
}

function inParagraph(paragraph: string): string {
  const masked = maskSpans(paragraph);
  // With a backtick left over nobody can tell which spans are code.
  const unsure = masked.includes('`');
  return paragraph.replace(mentionLike, (mention, ...rest) => {
    const index = rest.find((argument) => typeof argument === 'number') ?? 0;
    const name = mention.slice(1);
    const before = paragraph.slice(0, index);
    if (/[\w.+%-]$/.test(before) && /^[\w-]+(?:\.[\w-]+)+$/.test(name)) return mention;
    if (/https?:\/\/[^\s<>]*$/i.test(before)) return `%40${name}`;
    if (!unsure && masked[index] !== '@') return mention;
    const beside = /[`\\]$/.test(before) || paragraph[index + mention.length] === '`' || mention.includes('`');
    return unsure || beside ? `@${zeroWidthSpace}${name}` : `\`${mention}\``;
  });
}
