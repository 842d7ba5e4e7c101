import {
  addSpent,
  type BudgetLimits,
  type Envelope,
  frames,
  type GateRun,
  RunEvent,
  type SpentLine,
} from '../../protocol/index.ts';

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** What a run did, as its log tells it. */
export interface RunStory {
  readonly runKey: string;
  readonly request: string;
  /** ms since epoch; 0 where the log has no times. */
  readonly started: number;
  readonly ended: number;
  readonly verdict?: Of<'verdict.reached'>;
  readonly exit?: number;
  readonly gates: readonly GateRun[];
  readonly commits: readonly Of<'task.committed'>[];
  /** Where the delivered work lies; absent while nothing was delivered. */
  readonly delivered?: Of<'work.delivered'>;
  readonly returns: readonly Of<'work.returned'>[];
  /** What models were used for, by role and model. */
  readonly usage: readonly SpentLine[];
  /** What the run may use; nothing for a run of an earlier version. */
  readonly budget: BudgetLimits;
  /** Processes of the run, the first and those that took over. */
  readonly starts: number;
}

/** Folds the newest run of a log; undefined when there is none in it. */
export async function foldRun(log: AsyncIterable<Envelope>): Promise<RunStory | undefined> {
  let story: RunStory | undefined;
  for await (const frame of log) {
    const event = runEventOf(frame);
    if (!event) continue;
    const ts = frame.ts ?? 0;
    if (event.type === 'run.started' && event.run_key !== story?.runKey) story = open(event, ts);
    if (story) story = { ...add(story, event), ended: ts };
  }
  return story;
}

/** The run's event in a frame; undefined for anything else. */
export function runEventOf(frame: Envelope): RunEvent | undefined {
  if (frame.type !== 'task.event') return undefined;
  return RunEvent.safeParse(frames['task.event'].safeParse(frame).data?.payload.event).data;
}

function open(event: Of<'run.started'>, started: number): RunStory {
  const { request } = { request: '', ...(event.trigger as { request?: string } | null) };
  return {
    runKey: event.run_key,
    request,
    started,
    ended: started,
    gates: [],
    commits: [],
    returns: [],
    usage: [],
    budget: {},
    starts: 0,
  };
}

function add(story: RunStory, event: RunEvent): RunStory {
  switch (event.type) {
    case 'run.started':
      return { ...story, starts: story.starts + 1 };
    case 'gate.finished':
      return { ...story, gates: [...story.gates, event.gate] };
    case 'task.committed':
      return { ...story, commits: [...story.commits, event] };
    case 'work.delivered':
      // without a commit it tells of the work in progress alone
      return event.sha === undefined ? story : { ...story, delivered: event };
    case 'work.returned':
      return { ...story, returns: [...story.returns, event] };
    case 'usage.recorded':
      return { ...story, usage: addSpent(story.usage, event) };
    case 'budget.set': {
      const { type: _, ...budget } = event;
      return { ...story, budget };
    }
    case 'verdict.reached':
      return { ...story, verdict: event };
    case 'run.finished':
      return { ...story, exit: event.exit };
    default:
      return story;
  }
}
