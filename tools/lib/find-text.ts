import { findIndented, type Reindent } from './find-indented.ts';
import { type TextView, viewOf } from './text-view.ts';

/** In what two texts may differ and still be the same, from strict to lenient; each level allows the earlier ones too, but indentation. */
export type Likeness = 'exact' | 'line ends' | 'trailing space' | 'indentation' | 'punctuation';

/** One place in a text, as indices into it. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly likeness: Likeness;
  /** How a line of the replacement gets the place's indentation; undefined when it cannot. */
  readonly reindent?: Reindent;
}

export type Found =
  | { readonly kind: 'one'; readonly place: Place }
  | { readonly kind: 'many'; readonly places: readonly Place[] }
  | { readonly kind: 'none' };

/** Longest text that is searched leniently, characters; viewing a longer one takes too much memory. */
const MAX_LENIENT = 4 * 1024 * 1024;

/**
 * Finds where `wanted` stands. The strictest level that finds anything decides: when it finds more than one place, no
 * looser level may choose among them. A block is never taken for its likeness on the whole: every character counts.
 */
export function findText(text: string, wanted: string): Found {
  const exact = occurrences(text, wanted).map((start) => place(start, start + wanted.length, 'exact'));
  if (exact.length > 0) return verdict(exact);
  // Blank text is everywhere once blanks do not count.
  if (wanted.trim() === '' || text.length > MAX_LENIENT) return { kind: 'none' };
  const levels = [
    () => inView(text, wanted, 'line ends'),
    () => inView(text, wanted, 'trailing space'),
    () => findIndented(text, wanted).map((one) => ({ ...one, likeness: 'indentation' as const })),
    () => inView(text, wanted, 'punctuation'),
  ];
  for (const level of levels) {
    const places = level();
    if (places.length > 0) return verdict(places);
  }
  return { kind: 'none' };
}

function inView(text: string, wanted: string, likeness: Exclude<Likeness, 'exact' | 'indentation'>): Place[] {
  const view = viewOf(text, likeness);
  const part = viewOf(wanted, likeness);
  if (part.text.trim() === '') return [];
  return occurrences(view.text, part.text)
    .filter((start) => !view.splits(start) && !view.splits(start + part.text.length))
    .filter((start) => !part.endsBare || endsLine(view, start + part.text.length))
    .map((start) => {
      const last = start + part.text.length - 1;
      return place(view.start(start), view.end(last), likeness);
    });
}

/** Blanks that were dropped at the end of `wanted` stood before the end of a line, and so it must be in the text. */
function endsLine(view: TextView, at: number): boolean {
  return at === view.text.length || view.text[at] === '\n';
}

/** Every index at which `part` stands, overlapping ones too. */
function occurrences(text: string, part: string): number[] {
  const found: number[] = [];
  if (part === '') return found;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
}

function place(start: number, end: number, likeness: Likeness): Place {
  return { start, end, likeness };
}

function verdict(places: readonly Place[]): Found {
  const [first] = places;
  if (first === undefined) return { kind: 'none' };
  return places.length === 1 ? { kind: 'one', place: first } : { kind: 'many', places };
}
