/** Characters that a comment of the platform may have, with room to spare. */
export const MOST_COMMENT = 60_000;

/** Cuts a Markdown text to `most` characters at a line, never inside a code fence or a folded block, and says that it was cut. */
export function fitComment(text: string, note: string, most = MOST_COMMENT): string {
  if (text.length <= most) return text;
  const room = most - note.length - 40;
  const kept: string[] = [];
  let length = 0;
  let fence: string | undefined;
  let folded = 0;
  for (const line of text.split('\n')) {
    if (length + line.length + 1 > room) break;
    kept.push(line);
    length += line.length + 1;
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && fence === undefined) fence = mark;
    else if (mark && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    if (fence === undefined) folded += count(line, '<details>') - count(line, '</details>');
  }
  if (fence !== undefined) kept.push(fence);
  for (let open = folded; open > 0; open -= 1) kept.push('</details>');
  return `${kept.join('\n')}\n\n${note}`;
}

/** A code fence around `text` that nothing inside can close. */
export function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}`;
}

/** Text as it stands in a table cell: one line, no bars. */
export function cell(text: string, most = 120): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().replaceAll('|', '\\|');
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

function count(line: string, part: string): number {
  return line.split(part).length - 1;
}
