import type { FrameOf } from '../protocol/index.ts';
import { answer, assign, cancel, register } from './owner-frames.ts';
import { type Outcome, refused, type Said, type TaskParts } from './said.ts';
import { event, work } from './worker-frames.ts';

type TaskType =
  | 'register_task'
  | 'task.assign'
  | 'task.accept'
  | 'task.decline'
  | 'task.progress'
  | 'task.input'
  | 'task.answer'
  | 'task.result'
  | 'task.release'
  | 'task.cancel'
  | 'task.event';

/** A frame about a task that owners or workers may send. */
export type TaskFrame = FrameOf<TaskType>;

/** Reads what owners and workers say about tasks, and has the desk move them. */
export function handleTaskFrame(parts: TaskParts, said: Said<TaskType>): Outcome {
  const { frame } = said;
  if (frame.task_id === '') return refused('bad_frame', 'task_id is empty; name the task that this is about');
  switch (frame.type) {
    case 'register_task':
      return register(parts, { ...said, frame });
    case 'task.assign':
      return assign(parts, { ...said, frame });
    case 'task.answer':
      return answer(parts, { ...said, frame });
    case 'task.cancel':
      return cancel(parts, { ...said, frame });
    case 'task.event':
      return event(parts, { ...said, frame });
    default:
      return work(parts, { ...said, frame });
  }
}
