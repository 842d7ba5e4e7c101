import { diffArrays } from 'diff';
import type { Reindent } from './find-indented.ts';

/** What is put where. */
export interface Replacement {
  /** The text that stands there. */
  readonly region: string;
  /** How the model wrote that text, and what it wants instead. */
  readonly wanted: string;
  readonly replacement: string;
  /** Line end of the whole text, when it has only one kind. */
  readonly lineEnd: '\n' | '\r\n' | undefined;
  readonly reindent?: Reindent;
}

interface Line {
  readonly text: string;
  /** Empty where the region ends without one. */
  readonly end: string;
}

/**
 * The region's new text. Lines that the model left alone keep what really stands there: line ends, trailing space,
 * indentation and punctuation. Undefined when the new lines cannot get the region's indentation.
 */
export function replaceRegion(options: Replacement): string | undefined {
  const { region, wanted, replacement, lineEnd } = options;
  if (region === wanted) return lineEnd === '\r\n' ? replacement.replace(/\r?\n/g, '\r\n') : replacement;
  const there = linesOf(region);
  const before = linesOf(wanted).map(({ text }) => text);
  const after = linesOf(replacement).map(({ text }) => text);
  if (before.length === there.length + 1 && before.at(-1) === '') {
    // The model closed the last line of a file that does not.
    before.pop();
    if (after.at(-1) === '') after.pop();
  }
  if (before.length !== there.length) return undefined;
  const regionEnd = there.find(({ end }) => end !== '')?.end ?? lineEnd ?? '\n';
  const result: Line[] = [];
  let at = 0;
  for (const part of diffArrays(before, after)) {
    if (!part.added) {
      if (!part.removed) result.push(...there.slice(at, at + part.value.length));
      at += part.value.length;
      continue;
    }
    for (const line of part.value) {
      const text = options.reindent ? options.reindent(line) : line;
      if (text === undefined) return undefined;
      result.push({ text, end: '' });
    }
  }
  return result.map(({ text, end }, index) => (index < result.length - 1 ? text + (end || regionEnd) : text)).join('');
}

function linesOf(text: string): Line[] {
  const parts = text.replace(/^\uFEFF/, '').split('\n');
  return parts.map((part, at) => {
    const closed = at < parts.length - 1;
    const carriage = part.endsWith('\r') && closed;
    return { text: carriage ? part.slice(0, -1) : part, end: closed ? (carriage ? '\r\n' : '\n') : '' };
  });
}
