import { type Attempt, AttemptFold } from '../../hub/index.ts';
import { type Envelope, frames, type TaskRow } from '../../protocol/index.ts';
import { WorkCount } from './work-count.ts';

/** Something that happened to a task; `bytes` is the size of its payload, times are ms since epoch. */
export type Step =
  | WorkStep
  /** An event or a sign of life on its own, where all are wanted. */
  | { readonly kind: 'event'; readonly at: number; readonly frame: Envelope }
  | {
      readonly kind: 'question' | 'answer' | 'message' | 'cancel';
      readonly at: number;
      readonly from: string;
      readonly to: string;
      readonly bytes: number;
      readonly text: string;
    }
  | ResultStep;

/** What an agent did between two other steps; `at` is the time of the last of it. */
interface WorkStep {
  readonly kind: 'work';
  at: number;
  readonly work: WorkCount;
}

export interface ResultStep {
  readonly kind: 'result' | 'stale';
  readonly at: number;
  readonly from: string;
  readonly attempt: number;
  readonly bytes: number;
  readonly status: string;
  readonly text: string;
  readonly artifacts: number;
  readonly issues: number;
}

/** An offer or attempt with what happened in it. */
export interface AttemptStory extends Attempt {
  readonly steps: readonly Step[];
}

/** What one task went through. */
export interface TaskStory {
  readonly id: string;
  readonly row?: TaskRow;
  readonly asked?: {
    readonly at: number;
    readonly by: string;
    readonly to: string;
    readonly bytes: number;
    readonly goal: string;
    readonly constraints: number;
    readonly artifacts: number;
  };
  readonly attempts: readonly AttemptStory[];
  /** What belongs to no attempt: before the first, between two, after the end. */
  readonly outside: readonly Step[];
  /** Messages of the task, and the bytes of their payloads. */
  readonly messages: number;
  readonly bytes: number;
  readonly children: readonly TaskStory[];
}

/** Folds the frames of one task, in log order, into its story. */
export class StoryFold {
  readonly #full: boolean;
  readonly #attempts = new AttemptFold();
  readonly #steps = new Map<Attempt, Step[]>();
  readonly #outside: Step[] = [];
  #asked: TaskStory['asked'];
  #messages = 0;
  #bytes = 0;

  /** `full`: every event is a step, instead of their numbers. */
  constructor(full: boolean) {
    this.#full = full;
  }

  take(frame: Envelope): void {
    const { ts: at = 0, attempt = null } = frame;
    const bytes = Buffer.byteLength(JSON.stringify(frame.payload) ?? '');
    this.#messages += 1;
    this.#bytes += bytes;
    // before the result ends the attempt that it belongs to
    if (frame.type === 'task.result') this.#add(resultStep(frame, 'result', at, bytes));
    this.#attempts.take({ ts: at, type: frame.type, from: frame.from, attempt, payload: frame.payload });
    const said = { at, from: frame.from, to: frame.to, bytes };
    switch (frame.type) {
      case 'register_task':
        // said again it changes nothing: what was assigned is what is asked for
        this.#asked ??= askedBy(frame, at, bytes);
        return;
      case 'task.assign':
        this.#asked = askedBy(frame, at, bytes);
        return;
      case 'task.progress':
      case 'task.event':
        this.#work(frame, at, bytes);
        return;
      case 'task.input':
        this.#add({ kind: 'question', ...said, text: textOf(frame, 'question') });
        return;
      case 'task.answer':
        this.#add({ kind: 'answer', ...said, text: textOf(frame, 'text') });
        return;
      case 'task.cancel':
        // the hub's own word to a worker that lost the task says what the end of the attempt says
        if (frame.from !== 'hub') this.#add({ kind: 'cancel', ...said, text: textOf(frame, 'reason') });
        return;
      case 'route':
        this.#add({ kind: 'message', ...said, text: textOf(frame, 'text') });
        return;
      case 'stale_result':
        this.#outside.push(resultStep(frame, 'stale', at, bytes));
        return;
      default:
    }
  }

  /** The story so far. */
  tell(id: string, row: TaskRow | undefined, children: readonly TaskStory[]): TaskStory {
    if (row) this.#attempts.finish(row.sub_state, row.updated, row.reason);
    return {
      id,
      ...(row && { row }),
      ...(this.#asked && { asked: this.#asked }),
      attempts: this.#attempts.attempts.map((attempt) => ({ ...attempt, steps: this.#steps.get(attempt) ?? [] })),
      outside: this.#outside,
      messages: this.#messages,
      bytes: this.#bytes,
      children,
    };
  }

  #work(frame: Envelope, at: number, bytes: number): void {
    if (this.#full) {
      this.#add({ kind: 'event', at, frame });
      return;
    }
    const steps = this.#place();
    let step = steps.at(-1);
    if (step?.kind !== 'work') {
      step = { kind: 'work', at, work: new WorkCount() };
      steps.push(step);
    }
    step.at = at;
    step.work.take(frame, bytes);
  }

  #add(step: Step): void {
    this.#place().push(step);
  }

  /** Where the next step belongs: into the attempt at work, else outside. */
  #place(): Step[] {
    const open = this.#attempts.attempts.at(-1);
    if (open === undefined || open.ended !== null) return this.#outside;
    const steps = this.#steps.get(open) ?? [];
    this.#steps.set(open, steps);
    return steps;
  }
}

function askedBy(frame: Envelope, at: number, bytes: number): NonNullable<TaskStory['asked']> {
  const payload = frames['task.assign'].safeParse(frame).data?.payload;
  const { goal = textOf(frame, 'goal'), constraints = [], artifacts = [] } = payload ?? {};
  const counts = { constraints: constraints.length, artifacts: artifacts.length };
  return { at, by: frame.from, to: frame.to, bytes, goal, ...counts };
}

function resultStep(frame: Envelope, kind: 'result' | 'stale', at: number, bytes: number): ResultStep {
  const payload = frames['task.result'].safeParse({ ...frame, type: 'task.result' }).data?.payload;
  const { status = '?', summary = '', artifacts = [], issues = [] } = payload ?? {};
  const counts = { artifacts: artifacts.length, issues: issues.length };
  return { kind, at, from: frame.from, attempt: frame.attempt ?? 0, bytes, status, text: summary, ...counts };
}

/** A field of the payload when it is a text, else the payload in JSON. */
function textOf({ payload }: Envelope, key: string): string {
  if (typeof payload === 'string') return payload;
  const value = (payload as Record<string, unknown> | null)?.[key];
  return typeof value === 'string' ? value : (JSON.stringify(payload ?? '') ?? '');
}
