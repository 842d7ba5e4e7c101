/** What an agent of the test does; all of them send each other messages besides. */
export type Kind = 'owner' | 'worker' | 'hand' | 'talker';

/** One agent: its name says its kind. */
export interface Actor {
  readonly name: string;
  readonly kind: Kind;
  /** Roles that it says hello with. */
  readonly roles: readonly string[];
}

const roles: Readonly<Record<Kind, readonly string[]>> = {
  owner: ['owner'],
  worker: ['worker'],
  hand: ['hand', 'worker'],
  talker: ['talker'],
};

function actor(kind: Kind, number: number): Actor {
  return { name: `${kind}-${number}`, kind, roles: roles[kind] };
}

const dozen: readonly (readonly Actor[])[] = [
  ...[1, 2, 3, 4].map((number) => [actor('owner', number), actor('talker', number)]),
  ...[1, 3, 5, 7].map((number) => [actor('worker', number), actor('worker', number + 1)]),
  ...[1, 2, 3, 4].map((number) => [actor('hand', number)]),
];

export const actors: readonly Actor[] = dozen.flat();

/** Who shares a process, and with it its end: 20 agents in 12 processes, or, to begin sooner, in 6. */
export function troupesIn(processes: 12 | 6): readonly (readonly Actor[])[] {
  if (processes === 12) return dozen;
  return dozen.flatMap((troupe, index) => (index % 2 === 0 ? [[...troupe, ...(dozen[index + 1] ?? [])]] : []));
}

/** A peer at level 0, beside the agents. */
export const plainName = 'plain';
