import type { LoopState } from '../protocol/index.ts';
import type { LoopPolicy } from './loop-options.ts';

/** What came of the work in a state. `stopped` is possible everywhere and leads to `error`. */
export type Happened =
  | 'started'
  | 'goal_read'
  | 'calls_made'
  | 'calls_finished'
  | 'calls_repeated'
  | 'text_written'
  | 'nothing_written'
  | 'nudged'
  | 'succeeded'
  | 'stopped';

/** The whole machine: state, what happened there, the state that follows. */
const table: Record<LoopState, { readonly [H in Happened]?: LoopState }> = {
  idle: { started: 'parsing_goal' },
  // A transcript that is gone on with stands where its last turn left it; only a new one is planned.
  parsing_goal: {
    goal_read: 'planning',
    calls_made: 'observing',
    calls_finished: 'executing',
    text_written: 'summarizing',
  },
  planning: { calls_made: 'observing', text_written: 'executing', nothing_written: 'executing' },
  executing: { calls_made: 'observing', text_written: 'summarizing', nothing_written: 'executing' },
  observing: { calls_finished: 'executing', calls_repeated: 'reflecting', succeeded: 'done' },
  reflecting: { calls_made: 'observing', text_written: 'executing', nothing_written: 'executing' },
  summarizing: { nudged: 'executing', succeeded: 'done' },
  done: {},
  error: {},
};

/** States that cost a reply of their own: `executing` takes their place unless the role's policy asks for them. */
const guards: { readonly [S in LoopState]?: (policy: LoopPolicy) => boolean } = {
  planning: (policy) => policy.plans === true,
  reflecting: (policy) => policy.reflects === true,
};

/** The state that follows. What is not in the table cannot happen, and throws. */
export function nextState(from: LoopState, happened: Happened, policy: LoopPolicy): LoopState {
  const to = happened === 'stopped' ? 'error' : table[from][happened];
  if (to === undefined) throw new Error(`"${happened}" cannot happen in the state ${from}`);
  return guards[to]?.(policy) === false ? 'executing' : to;
}
