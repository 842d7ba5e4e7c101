/** A `comment` as a role asks for it: a line of the run's comment, or an inline remark of the review. */
export interface CommentRequest {
  readonly kind: 'note' | 'inline';
  readonly body: string;
  readonly path?: string;
  readonly line?: number;
}

/** One line of the plan that a role keeps outside its transcript. */
export interface PlanItem {
  readonly text: string;
  readonly state: 'open' | 'doing' | 'done' | 'dropped';
}

/** The way from a tool to what lies outside the loop. `agents` implements it over the hub. */
export interface Host {
  /** Asks the task's owner; waits for the answer. */
  ask(question: string): Promise<string>;
  /** Hands a comment to the coordinator; returns its id in the log. */
  comment(request: CommentRequest): Promise<string>;
  /** Replaces the plan; also shown in the progress comment. */
  plan(items: readonly PlanItem[]): Promise<void>;
}
