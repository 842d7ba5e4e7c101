/** What is looked at, in this order. */
export const checkNames = [
  'key',
  'name',
  'answer',
  'streaming',
  'tools',
  'results',
  'parallel',
  'vision',
  'usage',
  'thinking',
] as const;
export type CheckName = (typeof checkNames)[number];

/** One thing that a model at an endpoint can do, cannot, or does in a way that the client has to make up for. */
export interface Check {
  readonly name: CheckName;
  readonly verdict: 'yes' | 'partly' | 'no' | 'unknown';
  /** For people: what was seen, and what follows from it. */
  readonly note: string;
}

/** Everything that was found out about one model. */
export interface ModelCheck {
  readonly host: string;
  readonly model: string;
  readonly checks: readonly Check[];
  /** Whether a run can work with it: it answers, and calls tools in one way or another. */
  readonly usable: boolean;
}
