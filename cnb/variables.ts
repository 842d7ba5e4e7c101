import type { ThreadRef } from '../coordinator/trigger.ts';

/** What `process.env` is; a variable that does not apply is absent or empty. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable's value by its name; undefined when it is absent or blank. */
export type Read = (name: string) => string | undefined;

/** Reads variables by name; blank values count as absent. */
export function variablesOf(env: Environment): Read {
  return (name) => {
    const value = env[name];
    return value === undefined || value.trim() === '' ? undefined : value;
  };
}

/** Where a mention of this event stands; undefined for events that are none. */
export function kindOf(event: string | undefined): ThreadRef['kind'] | undefined {
  if (event === 'issue.comment@npc' || event === 'issue.comment') return 'issue';
  if (event === 'pull_request.comment@npc' || event === 'pull_request.comment') return 'pr';
  return undefined;
}

/** The text with the mention as it was written, whole; undefined when CNB dropped it for its size. */
export function writtenText(read: Read): string | undefined {
  if (read('CNB_COMMENT_ID')) return read('CNB_COMMENT_BODY');
  if (read('CNB_REVIEW_ID')) return read('CNB_REVIEW_DESCRIPTION');
  if (read('CNB_COMMENT_BODY')) return read('CNB_COMMENT_BODY');
  return kindOf(read('CNB_EVENT')) === 'issue'
    ? read('CNB_ISSUE_DESCRIPTION')
    : (read('CNB_PULL_REQUEST_DESCRIPTION') ?? read('CNB_PULL_REQUEST_DESC'));
}
