import { join } from 'node:path';
import { z } from 'zod';
import { capText } from '../base/cap-text.ts';
import { defineTool, type ToolContext } from '../core/tool.ts';
import { keepOutput, outputFolder } from './lib/output-folder.ts';
import { type CommandEnd, runCommand } from './lib/run-command.ts';
import { plainText } from './lib/terminal-text.ts';

/** Wall limits, s. */
const DEFAULT_LIMIT = 120;
const MAX_LIMIT = 600;
/** Bounds of one answer, below the loop's own. */
const BOUNDS = { maxBytes: 24_000, maxLines: 600, maxLine: 1900 };
/** From here on silence before the limit is worth a word, s. */
const LONG_SILENCE = 30;

/** Nobody is there to answer or to page; programs that would ask fail at once instead. */
const NOT_INTERACTIVE = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  DEBIAN_FRONTEND: 'noninteractive',
};

export default defineTool({
  name: 'bash',
  description:
    'Run a bash command in the work tree and return its output and exit code. There is no stdin and no terminal, so ' +
    `nothing can ask. It is ended after timeout_s seconds (${DEFAULT_LIMIT} if absent, at most ${MAX_LIMIT}). It is ` +
    'over when the command itself ends; processes it leaves in the background are ended with the task.',
  labels: ['description', 'timeout_s'],
  rest: 'the whole output is in the file that the result names',
  input: z.object({
    command: z.string().min(1).describe('The command line, run by bash -c'),
    timeout_s: z.number().positive().default(DEFAULT_LIMIT).describe(`Wall limit in seconds, at most ${MAX_LIMIT}`),
    description: z.string().optional().describe('A few words on what it is for'),
  }),
  async run({ command, timeout_s }, context) {
    const limit = Math.min(timeout_s, MAX_LIMIT);
    const clamped = timeout_s > MAX_LIMIT ? [`[timeout_s is in seconds; at most ${MAX_LIMIT} were given]`] : [];
    const later = join(await outputFolder(context), 'background.txt');
    context.alive(Date.now() + limit * 1000);
    const end = await runCommand({
      file: 'bash',
      args: ['-c', command],
      cwd: context.cwd,
      env: { ...context.env, ...NOT_INTERACTIVE },
      signal: context.signal,
      limitMs: limit * 1000,
      onOutput: () => context.alive(),
      laterOutput: later,
    });
    const exit = end.limited ? null : end.exit;
    return {
      ok: exit === 0,
      exit,
      text: [await outputOf(end, context), ...notesOf(end, limit, later), ...clamped].join('\n'),
    };
  },
});

async function outputOf(end: CommandEnd, context: ToolContext): Promise<string> {
  const output = plainText(end.output).trimEnd();
  if (output === '') return '(no output)';
  const { text, cut } = capText(output, BOUNDS);
  if (!cut) return text;
  const path = await keepOutput(context, `${output}\n`);
  return `${text}\n[output cut; the whole of it is in ${path}, for read]`;
}

/** Without times, so that a command that does the same again reads the same. */
function notesOf(end: CommandEnd, limit: number, later: string): string[] {
  const notes: string[] = [];
  if (end.limited) {
    const silent = Math.round(end.silentMs / 1000);
    const silence =
      silent >= Math.min(LONG_SILENCE, limit / 2) ? ` It had printed nothing for the last ${silent} s.` : '';
    notes.push(
      `[ended after ${limit} s, with all its processes.${silence} If it only needs longer, give timeout_s (at most ` +
        `${MAX_LIMIT}); a server belongs into the background: command > file 2>&1 &]`,
    );
  } else notes.push(end.signal ? `[ended by ${end.signal}]` : `[exit ${end.exit}]`);
  const list = end.left.slice(0, 5).map(({ pid, command }) => `${pid} ${command}`);
  if (end.left.length > list.length) list.push(`and ${end.left.length - list.length} more`);
  if (list.length === 0 && end.held) list.push('a process that hides');
  const file = end.laterOutput ? ` What it prints from now on is in ${later}, for read.` : '';
  if (list.length > 0) notes.push(`[still running in the background, until the task ends: ${list.join('; ')}.${file}]`);
  return notes;
}
