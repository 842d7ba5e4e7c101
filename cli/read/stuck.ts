import { type Standstill, standstill } from '../../hub/stuck.ts';
import { type Envelope, frames, type TaskRow } from '../../protocol/index.ts';
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

/** How long a task may stand where it is before it counts as stuck, ms; silence and a lost worker have clocks of their own. */
export type Patience = { readonly [K in Exclude<Standstill['kind'], 'quiet'>]: number };

const patience: Patience = {
  unassigned: 30_000,
  unserved: 30_000,
  in_line: 300_000,
  offered: 10_000,
  asked: 30_000,
  lost: 10_000,
  cancelling: 10_000,
};

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
    if (hub?.replay) return [{ task, ...shown(task, last, hub.url) }];
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
  const { now, limits, hub } = judge;
  const quiet = now - sign.quietSince;
  const found = standstill(task, {
    able: hub?.connected?.filter(({ name, roles }) =>
      task.target.startsWith('role:') ? roles.includes(task.target.slice(5)) : name === task.target,
    ),
    isThere: (name) => hub?.connected?.some((agent) => agent.name === name) ?? true,
    quietMs: quiet,
    silenceMs: sign.silence,
    question: sign.question,
  });
  if (found === undefined) return undefined;
  const { kind, why } = found;
  const standing = kind === 'quiet' || kind === 'lost' ? quiet : now - task.updated;
  if (kind !== 'quiet' && standing < limits[kind]) return undefined;
  return { why, for_ms: standing, cure: cureOf(kind, task, { ...judge, left: Math.max(0, sign.silence - quiet) }) };
}

/** What a person can do; `left` is how long its worker may still be silent, ms. */
function cureOf(kind: Standstill['kind'], task: TaskRow, judge: Judge & { readonly left: number }): string {
  const { task_id: id, owner, target } = task;
  const start = startOf(target, judge.hub, judge.builtIn);
  const place = placeOf(judge.hub);
  switch (kind) {
    case 'unassigned':
      return `${owner} must assign it, or end it: npc-crew tasks cancel ${id} ${place}`;
    case 'unserved':
      return `start one: ${start}`;
    case 'in_line':
      return `wait, or start one more: ${start}; look at ${id} again then`;
    case 'offered':
      return 'the hub offers it to another in a moment; is that agent alive?';
    case 'asked':
      return `${owner} must answer it, or you do: npc-crew tasks answer ${id} '…' ${place}`;
    case 'lost':
      return 'the hub gives it to another when that agent does not come back in a moment';
    case 'quiet':
      return `look at it: npc-crew log --task ${id} --last 20 ${judge.named}; in ${span(judge.left)} the hub gives it to another`;
    case 'cancelling':
      return 'the hub ends it in a moment';
    default:
      kind satisfies never;
      return '';
  }
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
    placeOf(hub),
  ].join(' ');
}

function placeOf(hub: LiveHub | undefined): string {
  const token = hub?.tokenFile === undefined ? '' : ` --token-file ${shellWord(hub.tokenFile)}`;
  return `--hub ${hub?.url}${token}`;
}

/** On a replay nothing moves, and nothing can be done. */
function shown({ task_id: id, updated }: TaskRow, end: number, url: string): Finding {
  const cure = `nothing can be done here, ${url} is a replay; look at it: npc-crew log --story ${id} --hub ${url}`;
  return { why: 'the log that is replayed ends before it was over', for_ms: Math.max(0, end - updated), cure };
}

/** Where no hub is at work, nothing moves any more. */
function abandoned({ updated }: TaskRow, end: number, named: string): Finding {
  const place = named.startsWith('--state ') ? named : '--state DIR';
  const cure = `start the hub again on its folder (npc-crew hub ${place}), or complete the run with npc-crew finish`;
  return { why: 'the log ends before it was over, and no hub is at work', for_ms: Math.max(0, end - updated), cure };
}
