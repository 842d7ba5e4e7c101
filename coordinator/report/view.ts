import type { TaskRow } from '../../protocol/index.ts';
import type { CommitRecord, RunRecord } from '../record.ts';

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

/** Every file of every commit once, in first-seen order. */
export function changedFiles(commits: readonly CommitRecord[]): string[] {
  return [...new Set(commits.flatMap((commit) => commit.files))];
}
