// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what no text needs
const CONTROLS = /[\x00-\x07\x0b\x0c\x0e-\x1f\x7f]/g;

/** What a terminal would show in the end: without colours and cursor moves, and of a line written over only its last state. */
export function plainText(output: string): string {
  const text = output.replace(ESCAPES, '').replaceAll('\r\n', '\n').replace(CONTROLS, '');
  if (!text.includes('\r') && !text.includes('\b')) return text;
  return text
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
    .join('\n')
    .replaceAll('\b', '');
}
