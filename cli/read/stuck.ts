import { type AgentRow, type Envelope, frames, type TaskRow } from '../../protocol/index.ts';
import { span } from '../show/units.ts';
import { shellWord } from './shell-word.ts';
import type { LiveHub, Source } from './source.ts';

/** A task that does not get on by itself. */
export interface StuckTask {
  readonly task: TaskRow;
  readonly why: string;
  /** How long already, ms. */
  readonly for_ms: number;
  /** What a person can do about it. */
  readonly cure: string;
}

/** How long a task may stand where it is before it counts as stuck, ms; for one at work it is half its silence time. */
export interface Patience {
  /** In the queue without anybody who could take it, or never given to anybody. */
  readonly queued: number;
  /** In the queue while those who could take it are busy. */
  readonly inLine: number;
  readonly offered: number;
  readonly asked: number;
  readonly cancelling: number;
}

const patience: Patience = { queued: 30_000, inLine: 300_000, offered: 10_000, asked: 30_000, cancelling: 10_000 };

/** Silence time of a task that does not say otherwise, ms. */
const SILENCE = 300_000;

/** What the frames of a task say about its life. */
interface Signs {
  /** When its agent was last heard, or will be heard at the latest, as it said itself. */
  quietSince: number;
  silence: number;
  question: string;
}

/** The tasks that are not over and have not moved for long, the longest first. */
export async function stuckTasks(source: Source, now: number, limits: Partial<Patience> = {}): Promise<StuckTask[]> {
  const open = (await source.tasks()).filter(({ state }) => state === 'pending' || state === 'running');
  if (open.length === 0) return [];
  const hub = await source.hub();
  const signs = new Map(
    open.map((task) => [task.task_id, { quietSince: task.updated, silence: SILENCE, question: '' }]),
  );
  let last = 0;
  for await (const frame of source.frames({ taskIds: [...signs.keys()] })) {
    const sign = signs.get(frame.task_id);
    if (sign) read(frame, sign);
    last = Math.max(last, frame.ts ?? 0);
  }
  const { roles } = await import('../../agents/roles.ts');
  const judge: Judge = {
    hub,
    named: source.named,
    builtIn: Object.keys(roles),
    now,
    limits: { ...patience, ...limits },
  };
  const found = open.flatMap((task) => {
    const sign = signs.get(task.task_id);
    const stuck = hub ? sign && whyStuck(task, sign, judge) : abandoned(task, last, source.named);
    return stuck ? [{ task, ...stuck }] : [];
  });
  return found.toSorted((a, b) => b.for_ms - a.for_ms);
}

function read(frame: Envelope, sign: Signs): void {
  const { ts = 0 } = frame;
  if (frame.type === 'task.assign') {
    const { silence_timeout_ms: own } = frames['task.assign'].safeParse(frame).data?.payload.options ?? {};
    sign.silence = own ?? sign.silence;
  } else if (frame.type === 'task.progress') {
    const { busy_until: busy = 0 } = frames['task.progress'].safeParse(frame).data?.payload ?? {};
    sign.quietSince = Math.max(sign.quietSince, ts, busy);
  } else if (frame.type === 'task.input') {
    sign.question = frames['task.input'].safeParse(frame).data?.payload.question ?? '';
  }
  if (frame.from !== 'hub') sign.quietSince = Math.max(sign.quietSince, ts);
}

type Finding = Omit<StuckTask, 'task'>;

interface Judge {
  readonly hub: LiveHub | undefined;
  /** The options that name the place to another command. */
  readonly named: string;
  /** Roles that need no program of somebody else. */
  readonly builtIn: readonly string[];
  readonly now: number;
  readonly limits: Patience;
}

function whyStuck(task: TaskRow, sign: Signs, judge: Judge): Finding | undefined {
  const { now, limits } = judge;
  const { task_id: id, owner, agent, updated } = task;
  const standing = now - updated;
  const after = (limit: number, why: string, cure: string): Finding | undefined =>
    standing < limit ? undefined : { why, for_ms: standing, cure };
  switch (task.sub_state) {
    case 'queued':
      return queued(task, judge, after);
    case 'offered':
      return after(
        limits.offered,
        `${agent} has not accepted it`,
        'the hub offers it to another in a moment; is that agent alive?',
      );
    case 'input_required':
      return after(
        limits.asked,
        `${agent} asked ${owner}: ${sign.question}`,
        `${owner} must answer with task.answer, or cancel it`,
      );
    case 'cancelling':
      return after(limits.cancelling, `${agent} has not stopped yet`, 'the hub ends it in a moment');
    case 'working': {
      const quiet = now - sign.quietSince;
      if (sign.silence === 0 || quiet < sign.silence / 2) return undefined;
      const left = Math.max(0, sign.silence - quiet);
      const cure = `look at it: npc-crew log --task ${id} --last 20 ${judge.named}; in ${span(left)} the hub gives it to another`;
      return { why: `no sign of life from ${agent}`, for_ms: quiet, cure };
    }
    default:
      return undefined;
  }
}

function queued(
  { target, owner, task_id: id }: TaskRow,
  { hub, builtIn, limits }: Judge,
  after: (limit: number, why: string, cure: string) => Finding | undefined,
): Finding | undefined {
  if (target === '') {
    return after(limits.queued, `${owner} has not said who is to do it`, `${owner} must assign it, or cancel it`);
  }
  const role = /^role:(.*)$/.exec(target)?.[1];
  const start = startOf(target, hub, builtIn);
  const able = hub?.connected?.filter((agent) =>
    role === undefined ? agent.name === target : agent.roles.includes(role),
  );
  if (able === undefined) return after(limits.queued, `nobody took it yet, for ${target}`, `start one: ${start}`);
  if (able.length === 0) return after(limits.queued, `no agent for ${target} is connected`, `start one: ${start}`);
  return after(
    limits.inLine,
    `waits for a free slot; ${doing(able)}`,
    `wait, or start one more: ${start}; look at ${id} again then`,
  );
}

/** A command that starts somebody who can take what is for `target`. */
function startOf(target: string, hub: LiveHub | undefined, builtIn: readonly string[]): string {
  const named = /^role:(.*)$/.exec(target)?.[1];
  // a name says nothing about a role, but people call a coder coder-1
  const role = named ?? builtIn.find((known) => target.startsWith(known)) ?? 'helper';
  return [
    `npc-crew agent ${role}`,
    ...(named === undefined ? [`--name ${target}`] : []),
    ...(builtIn.includes(role) ? [] : ["--exec '…{task}…'"]),
    `--hub ${hub?.url}`,
    ...(hub?.tokenFile === undefined ? [] : [`--token-file ${shellWord(hub.tokenFile)}`]),
  ].join(' ');
}

function doing(agents: readonly AgentRow[]): string {
  return agents
    .map(({ name, tasks }) => (tasks.length > 0 ? `${name} is on ${tasks.join(' ')}` : `${name} is free`))
    .join(', ');
}

/** Where no hub is at work, nothing moves any more. */
function abandoned({ updated }: TaskRow, end: number, named: string): Finding {
  const place = named.startsWith('--state ') ? named : '--state DIR';
  const cure = `start the hub again on its folder (npc-crew hub ${place}), or complete the run with npc-crew finish`;
  return { why: 'the log ends before it was over, and no hub is at work', for_ms: Math.max(0, end - updated), cure };
}
