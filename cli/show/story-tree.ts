import type { AttemptStory, Step, TaskStory } from '../read/task-story.ts';
import type { WorkCount } from '../read/work-count.ts';
import { gist } from './log-line.ts';
import { duration } from './task-table.ts';
import { plural, size, span } from './units.ts';
import { clip, plain } from './width.ts';

/** A line of a tree with the lines below it. */
interface Branch {
  readonly text: string;
  readonly below: readonly Branch[];
}

/** A task's story as a tree, one line a step; `now` ends what is not over. */
export function storyTree(story: TaskStory, options: { now: number; columns?: number }): string[] {
  const { columns = 160 } = options;
  const draw = ({ text, below }: Branch, first: string, rest: string): string[] => [
    clip(first + plain(text), columns),
    ...below.flatMap((branch, index) => {
      const isLast = index === below.length - 1;
      return draw(branch, `${rest}${isLast ? '└─ ' : '├─ '}`, `${rest}${isLast ? '   ' : '│  '}`);
    }),
  ];
  return draw(branchOf(story, options.now), '', '');
}

function branchOf(story: TaskStory, now: number): Branch {
  const { asked } = story;
  const below: { readonly at: number; readonly branch: Branch }[] = [
    ...(asked ? [{ at: asked.at, branch: leaf(askedText(asked)) }] : []),
    ...story.attempts.map((attempt) => ({ at: attempt.offered, branch: attemptBranch(attempt, now) })),
    ...story.outside.map((step) => ({ at: step.at, branch: leaf(`${clock(step.at)}  ${stepText(step)}`) })),
    ...story.children.map((child) => ({
      at: child.row?.created ?? child.asked?.at ?? 0,
      branch: branchOf(child, now),
    })),
  ];
  const sorted = below.toSorted((a, b) => a.at - b.at).map(({ branch }) => branch);
  return { text: headOf(story, now), below: [...sorted, ...waiting(story, now)] };
}

function headOf({ id, row, attempts, messages, bytes, children }: TaskStory, now: number): string {
  const held =
    messages > 0 ? `${plural(messages, 'message')}, ${size(bytes)}` : 'its messages are no longer in the log';
  if (!row) return `${id}  ${plural(children.length, 'task')}  ${held}`;
  const over = row.state === 'done' || row.state === 'failed';
  const state = row.state === row.sub_state ? row.state : `${row.state} (${row.sub_state})`;
  const tries = new Set(attempts.filter(({ outcome }) => outcome !== 'void').map(({ attempt }) => attempt)).size;
  const why = row.state === 'failed' && row.reason !== null ? `: ${row.reason}` : '';
  const time = duration((over ? row.updated : now) - row.created);
  return [`${id}  ${state}`, time, plural(tries, 'attempt'), held].join('  ') + why;
}

function askedText({ at, by, to, bytes, goal, constraints, artifacts }: NonNullable<TaskStory['asked']>): string {
  const with_ = [
    ...(constraints > 0 ? [plural(constraints, 'constraint')] : []),
    ...(artifacts > 0 ? [plural(artifacts, 'artifact')] : []),
  ];
  const facts = [size(bytes), ...with_].join(', ');
  return `${clock(at)}  ${by} asked ${to === 'hub' ? 'for it' : to}, ${facts}: ${goal}`;
}

function attemptBranch(attempt: AttemptStory, now: number): Branch {
  const { offered, accepted, ended, agent, outcome, reason } = attempt;
  const below: Branch[] = [leaf(`offered after ${span(attempt.waited_ms)} in the queue`)];
  let before = offered;
  const add = (at: number, text: string, steps: readonly Branch[] = []) => {
    below.push({ text: `+${span(at - before)}  ${text}`, below: steps });
    before = at;
  };
  if (accepted !== null) add(accepted, `accepted by ${agent}`);
  for (const step of attempt.steps) add(step.at, stepText(step));
  if (ended !== null && outcome !== 'success' && outcome !== 'failed') {
    add(ended, `${ends[outcome ?? 'lost']}${reason === null ? '' : `: ${reason}`}`);
  } else if (ended !== null && attempt.steps.at(-1)?.kind !== 'result') add(ended, `ended: ${outcome}`);
  else if (ended === null) add(now, 'still at it');
  const time = span((ended ?? now) - offered);
  const name = outcome === 'void' ? 'offer' : `attempt ${attempt.attempt}`;
  return { text: `${clock(offered)}  ${name}  ${agent}  ${outcome ?? 'at work'}  ${time}`, below };
}

const ends = { void: 'came to nothing', lost: 'lost', released: 'given back', cancelled: 'cancelled' } as const;

function stepText(step: Step): string {
  switch (step.kind) {
    case 'work':
      return workText(step.work);
    case 'event':
      return [step.frame.type, ...gist(step.frame)].join('  ');
    case 'question':
      return `${step.from} asked (${size(step.bytes)}): ${step.text}`;
    case 'answer':
      return `${step.from} answered (${size(step.bytes)}): ${step.text}`;
    case 'message':
      return `${step.from} to ${step.to} (${size(step.bytes)}): ${step.text}`;
    case 'cancel':
      return `${step.from} cancelled it: ${step.text}`;
    case 'result':
      return `result ${step.status}, ${found(step)}: ${step.text}`;
    case 'stale':
      return `STALE result of attempt ${step.attempt} by ${step.from}, not applied: ${step.status}, ${found(step)}: ${step.text}`;
    default:
      step satisfies never;
      return '';
  }
}

function found({ bytes, artifacts, issues }: { bytes: number; artifacts: number; issues: number }): string {
  const parts = [size(bytes)];
  if (artifacts > 0) parts.push(plural(artifacts, 'artifact'));
  if (issues > 0) parts.push(plural(issues, 'issue'));
  return parts.join(', ');
}

function workText(work: WorkCount): string {
  const calls = Object.entries(work.tools).toSorted(([, a], [, b]) => b - a);
  const sum = calls.reduce((total, [, count]) => total + count, 0);
  const failed = work.failed > 0 ? `; ${work.failed} failed` : '';
  const parts = [
    ...(work.turns > 0 ? [plural(work.turns, 'turn')] : []),
    ...(sum > 0
      ? [`${plural(sum, 'tool call')} (${calls.map(([name, n]) => `${name} ${n}`).join(', ')}${failed})`]
      : []),
    ...(work.tokens > 0 ? [`${work.tokens} tokens`] : []),
    ...(work.progress > 0 ? [`${plural(work.progress, 'sign')} of life`] : []),
    ...(work.events > 0 ? [plural(work.events, 'other event')] : []),
    size(work.bytes),
  ];
  return `worked: ${parts.join(', ')}${work.note === '' ? '' : `; last: ${work.note}`}`;
}

/** What an open task waits for now, when nobody has it. */
function waiting({ row, attempts }: TaskStory, now: number): Branch[] {
  if (row?.sub_state !== 'queued') return [];
  const since = attempts.at(-1)?.ended ?? row.created;
  return [leaf(`in the queue for ${row.target || 'nobody yet'} since ${span(now - since)}`)];
}

function leaf(text: string): Branch {
  return { text, below: [] };
}

function clock(ms: number): string {
  const date = new Date(ms);
  return ms === 0 ? '--:--:--' : date.toLocaleTimeString('en-GB');
}
