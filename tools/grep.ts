import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { capLine } from '../base/cap-text.ts';
import { defineTool, type ToolContext } from '../core/tool.ts';
import { decodeLines } from './lib/line-decoder.ts';
import { escapeNegation, listFiles, ripgrep, type SearchOutput, scope } from './lib/ripgrep.ts';
import { notThere, workPath } from './lib/work-paths.ts';

const MAX_LINE = 400;

export default defineTool({
  name: 'grep',
  description:
    'Search the files of the work tree with a regular expression (Rust syntax) and return matching lines as ' +
    'path:line:text. Files that git ignores are left out.',
  concurrent: true,
  rest: 'narrow path or glob, or raise limit',
  input: z.object({
    pattern: z.string().min(1).describe('Regular expression, or plain text with literal'),
    path: z.string().default('.').describe('File or folder to search, relative to the work tree'),
    glob: z.string().min(1).optional().describe('Only files whose path matches, as in **/*.ts'),
    literal: z.boolean().default(false).describe('Take the pattern as plain text'),
    ignore_case: z.boolean().default(false),
    context: z.int().min(0).max(20).default(0).describe('Lines shown around each match'),
    files_only: z.boolean().default(false).describe('Return only the paths of files with a match'),
    multiline: z.boolean().default(false).describe('Let the pattern match across lines'),
    ignored: z.boolean().default(false).describe('Search also files that git ignores'),
    limit: z.int().min(1).max(900).default(100).describe('Most lines to return'),
  }),
  async run(input, context) {
    const place = await workPath(context.cwd, input.path);
    const info = await stat(place.absolute).catch(() => undefined);
    if (info === undefined) throw await notThere(context.cwd, place);
    const folder = info.isDirectory() ? place.absolute : dirname(place.absolute);
    const target = info.isDirectory() ? './' : `./${place.absolute.slice(folder.length + 1)}`;
    const prefix = info.isDirectory() ? place.shown : dirname(place.shown);
    const search = (more: readonly string[]) => ripgrep(folder, [...flags(input), ...more, '--', target], context);

    let output = await search([]);
    // Files in GBK hold the same words in other bytes.
    if (output.bytes.length === 0 && /[^\0-\x7f]/.test(input.pattern)) output = await search(['--encoding=gb18030']);
    const allowed = await allowedFiles(folder, input, context);
    const lines = input.files_only ? namesOf(output, prefix, allowed) : linesOf(output, prefix, allowed);
    return render(lines, output, input.limit);
  },
});

interface Search {
  readonly pattern: string;
  readonly glob?: string | undefined;
  readonly literal: boolean;
  readonly ignore_case: boolean;
  readonly context: number;
  readonly files_only: boolean;
  readonly multiline: boolean;
  readonly ignored: boolean;
}

/** Every value is joined to its option, so that none that begins with a dash is taken for one. */
function flags(input: Search): string[] {
  return [
    '--null',
    '--sort=path',
    '--with-filename',
    '--no-heading',
    ...scope(input.ignored),
    ...(input.files_only ? ['--files-with-matches'] : ['--line-number', `--context=${input.context}`]),
    ...(input.literal ? ['--fixed-strings'] : []),
    ...(input.ignore_case ? ['--ignore-case'] : []),
    ...(input.multiline ? ['--multiline'] : []),
    ...(input.glob === undefined ? [] : [`--glob=${escapeNegation(input.glob)}`]),
    '--glob=!.git',
    `--regexp=${input.pattern}`,
  ];
}

/** With a glob ripgrep forgets ignore files; what they name is taken out again. */
async function allowedFiles(
  folder: string,
  input: Search,
  context: ToolContext,
): Promise<ReadonlySet<string> | undefined> {
  if (input.glob === undefined || input.ignored) return undefined;
  const { files, cut } = await listFiles(folder, { ignored: false }, context);
  return cut ? undefined : new Set(files);
}

/** Names alone are ended by a NUL each; the last piece is empty, or cut in the middle. */
function namesOf(output: SearchOutput, prefix: string, allowed: ReadonlySet<string> | undefined): string[] {
  const names = output.bytes
    .toString('utf8')
    .split('\0')
    .slice(0, -1)
    .map((name) => name.replace(/^\.\//, ''));
  return names.filter((name) => !allowed || allowed.has(name)).map((name) => join(prefix, name));
}

/** Lines as `path:12:text` (a match) or `path-12-text` (around one); the name is set off by a NUL. */
function linesOf(output: SearchOutput, prefix: string, allowed: ReadonlySet<string> | undefined): string[] {
  const lines: string[] = [];
  const pieces = decodeRecords(output.bytes).split('\n');
  // The last one is empty, or cut in the middle.
  pieces.pop();
  for (const piece of pieces) {
    const [name, rest = ''] = piece.includes('\0') ? piece.split('\0', 2) : [undefined, piece];
    if (name === undefined) {
      if (piece === '--' && lines.at(-1) !== '--') lines.push(piece);
      continue;
    }
    const file = name.replace(/^\.\//, '');
    if (allowed && !allowed.has(file)) continue;
    const shown = join(prefix, file);
    const [, number, kind = ':', text = ''] = /^(\d+)([:-])(.*)$/s.exec(rest) ?? [];
    lines.push(`${shown}${kind}${number}${kind}${capLine(text.replace(/\r$/, ''), MAX_LINE)}`);
  }
  return lines.at(-1) === '--' ? lines.slice(0, -1) : lines;
}

/** A line's name is UTF-8, its text may be in another encoding. */
function decodeRecords(bytes: Buffer): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline + 1;
    const nul = bytes.subarray(start, end).indexOf(0);
    const text = start + nul + 1;
    if (nul !== -1) parts.push(bytes.toString('utf8', start, text));
    parts.push(decodeLines(bytes.subarray(nul === -1 ? start : text, end)));
    start = end;
  }
  return parts.join('');
}

function render(lines: readonly string[], output: SearchOutput, limit: number): string {
  const warning = output.warning === '' ? [] : [`[warning: ${output.warning}]`];
  if (lines.length === 0) return ['no matches', ...warning].join('\n');
  const shown = lines.slice(0, limit);
  const more = lines.length - shown.length;
  const rest = output.cut ? `more than ${more}` : String(more);
  const note = more > 0 || output.cut ? [`[${rest} lines left out; narrow path or glob, or raise limit]`] : [];
  return [...shown, ...note, ...warning].join('\n');
}
