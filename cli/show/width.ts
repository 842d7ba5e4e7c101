const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
const control = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/gu;
const invisible = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** How many columns of a terminal a text takes: a Chinese character takes two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) if (!invisible.test(character)) width += wide.test(character) ? 2 : 1;
  return width;
}

/** The text on one line without control characters, so that what an agent wrote cannot steer the terminal. */
export function plain(text: string): string {
  return text.replaceAll(/\s*[\r\n\t\v\f\u0085\u2028\u2029]\s*/g, ' ').replaceAll(control, '');
}

/** Cuts to at most `columns`, with an ellipsis where something is missing. */
export function clip(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 1;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Fills up with spaces to `columns`. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}
