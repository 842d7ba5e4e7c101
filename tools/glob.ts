import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../core/tool.ts';
import { listFiles } from './lib/ripgrep.ts';
import { notThere, workPath } from './lib/work-paths.ts';

export default defineTool({
  name: 'glob',
  description:
    'List files of the work tree whose path matches a pattern, as in **/*.ts or src/**; a pattern without a slash ' +
    'matches names in every folder. Files that git ignores are left out.',
  concurrent: true,
  rest: 'narrow pattern or path, or raise limit',
  input: z.object({
    pattern: z.string().min(1).describe('Glob with * ** ? [] {}'),
    path: z.string().default('.').describe('Folder to look in, relative to the work tree'),
    ignored: z.boolean().default(false).describe('List also files that git ignores'),
    limit: z.int().min(1).max(900).default(200).describe('Most paths to return'),
  }),
  async run({ pattern, path, ignored, limit }, context) {
    const place = await workPath(context.cwd, path);
    const info = await stat(place.absolute).catch(() => undefined);
    if (info === undefined) throw await notThere(context.cwd, place);
    if (!info.isDirectory()) return { ok: false, text: `${place.shown} is a file; path is the folder to look in.` };
    const { files, cut } = await listFiles(place.absolute, { pattern, ignored }, context);
    if (files.length === 0) return 'no files';
    const shown = files.slice(0, limit).map((file) => join(place.shown, file));
    const more = files.length - shown.length;
    const note = more > 0 || cut ? [`[${cut ? 'more than ' : ''}${more} files left out; narrow the pattern]`] : [];
    return [...shown, ...note].join('\n');
  },
});
