import type { TaskRow } from '../../protocol/index.ts';
import type { RunRecord } from '../record.ts';

/** All that a report is rendered from. */
export interface RunView {
  readonly runKey: string;
  readonly language: 'zh-CN' | 'en';
  readonly record: RunRecord;
  readonly tasks: readonly TaskRow[];
  readonly buildUrl?: string;
  readonly logUrl?: string;
  readonly startedAt: number;
  readonly now: number;
}

/** Node of a task's id: `code` of `<run key>.code.r1`. */
export function nodeOf(taskId: string): string {
  return taskId.split('.')[1] ?? taskId;
}

/** The files that the work changed: as measured against the base, before that every file of every commit. */
export function changedFiles({ changed, commits }: RunRecord): readonly string[] {
  return changed ?? [...new Set(commits.flatMap((commit) => commit.files))];
}
