/**
 * Masks for Markdown: each returns a text of the same length in which the masked characters are spaces, so that positions found in a
 * mask hold in the original.
 */

const fence = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})/;
const quote = /^ {0,3}>/;
const item = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const delimiterRow = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** Masks fenced code, indented code and code spans. */
export function maskCode(markdown: string): string {
  return maskSpans(maskBlocks(markdown, false));
}

/** Masks everything in which a mention does not fire on CNB: code, quotes, lists, tables, `<details>` and HTML comments. */
export function maskQuiet(markdown: string): string {
  return maskSpans(maskBlocks(markdown, true)).replace(
    /<!--[\s\S]*?(?:-->|$)|<details\b[\s\S]*?(?:<\/details>|$)/gi,
    blank,
  );
}

function maskBlocks(markdown: string, containers: boolean): string {
  const lines = markdown.split('\n');
  let closing: { readonly mark: string; readonly size: number } | undefined;
  // What the text before belongs to: after a quote or list item a plain line goes on with it (lazy continuation) until a blank line.
  let inside: 'nothing' | 'paragraph' | 'container' | 'table' | 'code' = 'nothing';
  let listOpen = false;
  return lines
    .map((line, index) => {
      const mark = fence.exec(line)?.[1];
      if (closing) {
        const end = mark?.startsWith(closing.mark) === true && mark.length >= closing.size;
        if (end && new RegExp(`^[ \\t>]*${closing.mark}+[ \\t]*$`).test(line)) closing = undefined;
        return blank(line);
      }
      if (mark !== undefined && !(mark.startsWith('`') && line.slice(line.indexOf(mark) + mark.length).includes('`'))) {
        closing = { mark: mark.charAt(0), size: mark.length };
        inside = 'nothing';
        return blank(line);
      }
      if (line.trim() === '') {
        if (inside !== 'code') inside = 'nothing';
        return line;
      }
      const indented = /^(?: {4}|\t| {1,3}\t)/.test(line);
      if (indented && !listOpen && (inside === 'nothing' || inside === 'code')) {
        inside = 'code';
        return blank(line);
      }
      if (item.test(line)) {
        listOpen = true;
        inside = 'container';
      } else if (quote.test(line)) inside = 'container';
      else if (inside === 'table' || startsTable(lines, index)) inside = 'table';
      else if (inside === 'nothing' || inside === 'code') {
        listOpen &&= /^[ \t]{2,}/.test(line);
        inside = listOpen ? 'container' : 'paragraph';
      }
      return containers && (inside === 'container' || inside === 'table') ? blank(line) : line;
    })
    .join('\n');
}

function startsTable(lines: readonly string[], index: number): boolean {
  const next = lines[index + 1];
  return lines[index]?.includes('|') === true && next !== undefined && next.includes('-') && delimiterRow.test(next);
}

/**
 * Masks code spans that open and close on one line. A run of backticks without a partner, or behind a backslash, is plain text and
 * stays.
 */
export function maskSpans(markdown: string): string {
  return markdown.replace(/\\`|(?<!`)(`+)(?!`)[^\n]*?[^`\n]\1(?!`)/g, (span) =>
    span.startsWith('\\') ? span : blank(span),
  );
}
