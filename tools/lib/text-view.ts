/** A text with some differences taken out, and the way back from each of its characters to the original. */
export interface TextView {
  readonly text: string;
  /** Whether blanks were dropped at the very end of the text. */
  readonly endsBare: boolean;
  /** Index in the original of the character at `at`. */
  start(at: number): number;
  /** Index in the original behind the character at `at`. */
  end(at: number): number;
  /** Whether a cut before the character at `at` would go through one of the original, as through an ellipsis. */
  splits(at: number): boolean;
}

/** Punctuation that people and models write in several ways, by its plain form. */
const VARIANTS: Readonly<Record<string, string>> = {
  "'": '\u2018\u2019\u201a\u201b\u2032\uff07',
  '"': '\u201c\u201d\u201e\u201f\u2033\uff02',
  '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d',
  ' ': '\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000',
  '...': '\u2026',
  ',': '\uff0c',
  '.': '\uff0e',
  ':': '\uff1a',
  ';': '\uff1b',
  '!': '\uff01',
  '?': '\uff1f',
  '(': '\uff08',
  ')': '\uff09',
};
const PLAIN = new Map(Object.entries(VARIANTS).flatMap(([plain, all]) => [...all].map((one) => [one, plain] as const)));

/** Views a text so that the named kind of difference, and the stricter ones before it, do not show. */
export function viewOf(original: string, without: 'line ends' | 'trailing space' | 'punctuation'): TextView {
  const blanks = without !== 'line ends';
  const pieces: string[] = [];
  const from: number[] = [];
  const push = (piece: string, at: number) => {
    pieces.push(piece);
    for (let count = 0; count < piece.length; count += 1) from.push(at);
  };
  // A mark at the beginning is in the file's bytes, not in its text; models copy it along.
  let at = original.startsWith('\uFEFF') ? 1 : 0;
  let endsBare = false;
  while (at < original.length) {
    const gap = blanks ? blankBeforeLineEnd(original, at) : original[at] === '\r' && original[at + 1] === '\n' ? 1 : 0;
    if (gap > 0) {
      at += gap;
      endsBare = at === original.length;
      continue;
    }
    const character = original[at] ?? '';
    push(without === 'punctuation' ? (PLAIN.get(character) ?? character) : character, at);
    at += 1;
  }
  return {
    text: pieces.join(''),
    endsBare,
    start: (index) => from[index] ?? original.length,
    end: (index) => (from[index] ?? original.length - 1) + 1,
    splits: (index) => index > 0 && from[index] !== undefined && from[index] === from[index - 1],
  };
}

/** Number of blanks from `at` on, when only they stand between `at` and the end of the line. */
function blankBeforeLineEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && ' \t\r'.includes(text[end] ?? '')) end += 1;
  return end === text.length || text[end] === '\n' ? end - at : 0;
}
