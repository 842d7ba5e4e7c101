import { print } from '../print.ts';
import { findTask } from '../read/find-task.ts';
import { openSource, type SourceOptions } from '../read/open-source.ts';
import type { Source } from '../read/source.ts';
import { StoryFold, type TaskStory } from '../read/task-story.ts';
import { idsOf, type TaskNode, taskTree } from '../read/task-tree.ts';
import { storyTree } from '../show/story-tree.ts';

export interface TellOptions extends SourceOptions {
  /** Every event, instead of their numbers. */
  readonly full?: boolean;
  readonly json?: boolean;
}

/** Prints one task as a tree, with the tasks below it. */
export async function tellStory(name: string, { full = false, json = false, ...where }: TellOptions): Promise<void> {
  const source = await openSource(where);
  try {
    const story = await storyOf(source, name, full);
    const { columns } = process.stdout;
    const shown = { now: Date.now(), ...(process.stdout.isTTY && { columns }) };
    for (const line of json ? [JSON.stringify(story)] : storyTree(story, shown)) await print(line);
  } finally {
    await source.close();
  }
}

/** The story of the task that a person means. Throws `AppError` as `findTask` does. */
export async function storyOf(source: Source, name: string, full: boolean): Promise<TaskStory> {
  const rows = await source.tasks();
  const tree = taskTree(findTask(name, rows), rows);
  const folds = new Map(idsOf(tree).map((id) => [id, new StoryFold(full)]));
  for await (const frame of source.frames({ taskIds: [...folds.keys()] })) folds.get(frame.task_id)?.take(frame);
  const tell = ({ id, row, children }: TaskNode): TaskStory =>
    (folds.get(id) ?? new StoryFold(full)).tell(id, row, children.map(tell));
  return tell(tree);
}
