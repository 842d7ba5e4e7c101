import { z } from 'zod';
import { AppError } from '../base/errors.ts';
import { defineTool } from '../core/tool.ts';
import { closestBlock } from './lib/closest-block.ts';
import { encodeText } from './lib/encoding.ts';
import { findText, type Place } from './lib/find-text.ts';
import { loadFile } from './lib/load-file.ts';
import { replaceRegion } from './lib/replace-region.ts';
import { inTurn, knowledgeOf, noteSeen } from './lib/seen-files.ts';
import { showDiff } from './lib/show-diff.ts';
import { notThere, writablePath } from './lib/work-paths.ts';
import { writeAtomic } from './lib/write-atomic.ts';

export default defineTool({
  name: 'edit',
  description:
    'Replace one piece of a text file in the work tree. old_string is copied from the file as read shows it, without ' +
    'the line numbers, and must stand there exactly once: give enough lines around it. Answers with a diff.',
  input: z.object({
    path: z.string().describe('Path relative to the work tree'),
    old_string: z.string().min(1).describe('The text that stands there now; unique in the file'),
    new_string: z.string().describe('What replaces it'),
    replace_all: z.boolean().default(false).describe('Replace every exact occurrence instead of one'),
  }),
  async run(input, { cwd, memo }) {
    const place = await writablePath(cwd, input.path);
    return inTurn(memo, place.absolute, async () => {
      const file = await loadFile(place);
      if (file === undefined) throw await notThere(cwd, place);
      if (knowledgeOf(memo, place.absolute, file.bytes) === 'stale') {
        throw refuse(`${place.shown} has changed since it was read; read it again`);
      }
      if (file.text === undefined) throw refuse(`${place.shown} is a binary file`);
      const { text, encoding, bom, clean } = file.text;
      if (!clean) throw refuse(`${place.shown} has bytes that are no valid ${encoding}; change it with bash`);
      const { places, how } = placesOf(text, input);
      const next = splice(text, places, input);
      if (next === text) throw refuse('nothing would change: old_string and new_string come to the same');
      // A clean text encodes to the bytes it came from, so what was not touched is the same in bytes too.
      const bytes = encodeText(next, encoding, bom);
      await writeAtomic(place.absolute, bytes);
      noteSeen(memo, place.absolute, bytes);
      const answer = `edited ${place.shown}${how}\n${showDiff(text, next)}`;
      return { ok: true, text: answer, filesTouched: [place.shown] };
    });
  },
});

interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

function placesOf(text: string, edit: Edit): { places: readonly Place[]; how: string } {
  const found = findText(text, edit.old_string);
  if (found.kind === 'none') throw refuse(notFound(text, edit.old_string));
  if (found.kind === 'one') {
    const { likeness } = found.place;
    return { places: [found.place], how: likeness === 'exact' ? '' : ` (old_string differed in ${likeness})` };
  }
  const { places } = found;
  if (edit.replace_all && places[0]?.likeness === 'exact') {
    // Of occurrences that overlap only the first is replaced.
    const apart: Place[] = [];
    for (const one of places) if (one.start >= (apart.at(-1)?.end ?? 0)) apart.push(one);
    return { places: apart, how: ` in ${apart.length} places` };
  }
  const lines = places.slice(0, 10).map(({ start }) => lineAt(text, start));
  throw refuse(
    `old_string stands in ${places.length} places (lines ${lines.join(', ')}${places.length > 10 ? ', …' : ''}); ` +
      'add lines around it until it is unique',
  );
}

/** The text with the new pieces in it; everything around them stays as it is. */
function splice(text: string, places: readonly Place[], edit: Edit): string {
  const lineEnd = onlyLineEnd(text);
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, reindent } of places) {
    const next = replaceRegion({
      region: text.slice(start, end),
      wanted: edit.old_string,
      replacement: edit.new_string,
      lineEnd,
      ...(reindent && { reindent }),
    });
    if (next === undefined) throw refuse(notFound(text, edit.old_string));
    parts.push(text.slice(done, start), next);
    done = end;
  }
  return parts.join('') + text.slice(done);
}

function onlyLineEnd(text: string): '\n' | '\r\n' | undefined {
  const bare = /(?<!\r)\n/.test(text);
  if (text.includes('\r\n')) return bare ? undefined : '\r\n';
  return bare ? '\n' : undefined;
}

function notFound(text: string, wanted: string): string {
  if (wanted.split('\n').every((line) => /^\s*\d+\t/.test(line) || line === '')) {
    return 'old_string holds the line numbers of the read view; leave them out';
  }
  const closest = closestBlock(text, wanted);
  if (!closest) return 'old_string does not stand in the file; read it again and copy the text exactly';
  const lines = closest.lines.slice(0, 40).map((line, at) => `${String(closest.line + at).padStart(6)}\t${line}`);
  return [
    `old_string does not stand in the file. Closest are these lines, which differ first in line ${closest.line + closest.differs}:`,
    ...lines,
    'The file was not changed; copy the text exactly.',
  ].join('\n');
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

function refuse(message: string): AppError {
  return new AppError('refused', message);
}
