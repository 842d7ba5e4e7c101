import type { TaskRow } from '../../protocol/index.ts';
import type { RunStory } from '../read/fold-run.ts';
import { costOf, spendingLines } from './spending.ts';
import { table } from './table.ts';
import { duration, taskTable } from './task-table.ts';
import { plain } from './width.ts';

/** A run for people: the verdict first, then what it stands on. */
export function storyLines(
  story: RunStory,
  tasks: readonly TaskRow[],
  options: { now: number; columns?: number },
): string[] {
  const { columns } = options;
  const { verdict, delivered } = story;
  const commits = story.commits.filter(({ files }) => files.length > 0);
  const over = story.exit !== undefined;
  const time = duration((over ? story.ended : options.now) - story.started);
  const word = verdict ? [verdict.verdict ?? 'ended', verdict.cause].filter(Boolean).join(' / ') : 'no verdict yet';
  return [
    `run ${story.runKey}: ${word}, ${time}${over ? `, exit ${story.exit}` : ''}${story.starts > 1 ? `, started ${story.starts} times` : ''}`,
    ...(story.request ? [`request: ${plain(story.request)}`] : []),
    ...(verdict ? [plain(verdict.message), ...(verdict.next_step ? [`next: ${plain(verdict.next_step)}`] : [])] : []),
    ...(delivered ? [plain(`delivered: ${delivered.sha} on ${delivered.branch}`)] : []),
    '',
    ...taskTable(tasks, options),
    ...section(
      ['COMMAND', 'EXIT', 'COMMIT', 'TIME'],
      story.gates.map((gate) => [
        gate.command,
        String(gate.exit ?? gate.missing ?? '-'),
        gate.sha.slice(0, 8),
        duration(gate.ms),
      ]),
      columns,
    ),
    ...section(
      ['COMMIT OF THE WORK IN PROGRESS', 'TASK', 'FILES'],
      commits.map((commit) => [commit.sha.slice(0, 8), commit.node, commit.files.join(' ')]),
      columns,
    ),
    ...section(
      ['RETURN', 'TO', 'BY', 'WHY'],
      story.returns.map(({ count, node, by, issues }) => [
        String(count),
        node,
        by,
        issues.map((issue) => issue.message).join('; '),
      ]),
      columns,
    ),
    ...section(
      ['ROLE', 'MODEL', 'CALLS', 'FAILED', 'TOKENS IN', 'CACHED', 'OUT', 'COST'],
      story.usage.map((line) => [
        line.role,
        line.model,
        ...[line.calls, line.failed, line.input, line.cached, line.output].map(String),
        costOf(line),
      ]),
      columns,
    ),
    ...spendingLines(story, over ? story.ended : options.now),
  ];
}

function section(head: string[], rows: string[][], columns: number | undefined): string[] {
  return rows.length === 0 ? [] : ['', ...table(head, rows, columns)];
}
