/** Text as the corpora compare it: white space around removed blocks is free. */
export function norm(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[ \t]+\n/g, '\n')
    .replaceAll(/\n+/g, '\n')
    .replaceAll(/(?<=\S) {2,}/g, ' ')
    .trim();
}
