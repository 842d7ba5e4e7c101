import type { TaskRow } from '../../protocol/index.ts';
import type { CommitRecord, RunRecord } from '../record.ts';

/** Where the delivered work lies. */
export interface Delivered {
  readonly branch?: string;
  readonly branchUrl?: string;
  readonly sha?: string;
  readonly pullNumber?: string;
  readonly pullUrl?: string;
  /** The work-in-progress branch, when it is still there. */
  readonly wip?: string;
}

/** All that a report is rendered from. */
export interface RunView {
  readonly runKey: string;
  readonly language: 'zh-CN' | 'en';
  readonly record: RunRecord;
  readonly tasks: readonly TaskRow[];
  readonly delivered: Delivered;
  /** Answer to a question, when the run ends with one. */
  readonly answer?: string;
  readonly buildUrl?: string;
  readonly logUrl?: string;
  /** Commands that the run checks with, and whether they were guessed. */
  readonly commands: readonly { readonly kind: string; readonly command: string; readonly guessed: boolean }[];
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
