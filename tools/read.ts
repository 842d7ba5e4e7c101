import { lstat, readdir } from 'node:fs/promises';
import { z } from 'zod';
import { capLine } from '../base/cap-text.ts';
import { defineTool, type ToolContext } from '../core/tool.ts';
import { loadFile } from './lib/load-file.ts';
import { keptOutput } from './lib/output-folder.ts';
import { noteSeen } from './lib/seen-files.ts';
import { notThere, type WorkPath, workPath } from './lib/work-paths.ts';

/** Bounds of one answer, below the loop's own, so that what is shown has no gap. */
const MAX_LINES = 900;
const MAX_BYTES = 30_000;
const MAX_LINE = 1900;

export default defineTool({
  name: 'read',
  description:
    'Return lines of a text file in the work tree, each after its number and a tab (which are not part of the file). ' +
    `At most ${MAX_LINES} lines at once; go on with offset. A folder is listed.`,
  concurrent: true,
  rest: 'go on with a higher offset',
  input: z.object({
    path: z.string().describe('Path relative to the work tree'),
    offset: z.int().min(1).default(1).describe('Number of the first line, from 1'),
    limit: z.int().min(1).default(MAX_LINES).describe('Most lines to return'),
  }),
  async run({ path, offset, limit }, context) {
    const place = await readable(path, context);
    if ((await lstat(place.absolute).catch(() => undefined))?.isDirectory()) return listFolder(place);
    const file = await loadFile(place);
    if (file === undefined) throw await notThere(context.cwd, place);
    if (file.text === undefined) return `${place.shown} is a binary file of ${file.bytes.length} bytes.`;
    noteSeen(context.memo, place.absolute, file.bytes);
    const { text, encoding, clean } = file.text;
    if (text === '') return `${place.shown} is empty.`;
    const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
    if (lines.at(-1) === '') lines.pop();
    if (offset > lines.length) {
      return { ok: false, text: `${place.shown} has ${lines.length} lines; offset ${offset} is behind its end.` };
    }
    const shown = numbered(lines, offset, Math.min(limit, MAX_LINES));
    const next = offset + shown.length;
    const notes = [
      ...(next <= lines.length ? [`lines ${offset}-${next - 1} of ${lines.length}; go on with offset ${next}`] : []),
      ...(encoding === 'utf-8' ? [] : [`encoding ${encoding}; write and edit keep it`]),
      ...(clean ? [] : ['some bytes are no valid characters and are shown as \uFFFD']),
    ];
    return [...shown, ...notes.map((note) => `[${note}]`)].join('\n');
  },
});

/** Beside the work tree, what earlier calls kept because it was too long. */
async function readable(path: string, context: ToolContext): Promise<WorkPath> {
  const kept = await keptOutput(context, path);
  return kept ? { absolute: kept, shown: path } : workPath(context.cwd, path);
}

function numbered(lines: readonly string[], offset: number, limit: number): string[] {
  const shown: string[] = [];
  let room = MAX_BYTES;
  for (const [at, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const text = `${String(offset + at).padStart(6)}\t${capLine(line, MAX_LINE)}`;
    room -= Buffer.byteLength(text) + 1;
    if (room < 0 && shown.length > 0) break;
    shown.push(text);
  }
  return shown;
}

async function listFolder(place: WorkPath): Promise<string> {
  const entries = await readdir(place.absolute, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const shown = names.slice(0, 500);
  const more = names.length > shown.length ? [`[… ${names.length - shown.length} more; use glob]`] : [];
  return [`${place.shown} is a folder:`, ...shown, ...more].join('\n');
}
