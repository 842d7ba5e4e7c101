import type { ModelChoice } from '../core/model.ts';

/** What a role is: a folder with a prompt, a list of tools and a policy. It holds no code of its own. */
export interface RoleDefinition {
  /** Also the folder's name, and `R` in `role:R` on the hub. */
  readonly name: string;
  /** The prompt, a Markdown file: duty, inputs, result, limits. */
  readonly prompt: URL;
  /** Names of files in `tools/`. */
  readonly tools: readonly string[];
  readonly policy: RolePolicy;
}

/** How a role works. */
export interface RolePolicy {
  /** The model that answers. */
  readonly choice: ModelChoice;
  /** Replies a task may take. */
  readonly maxSteps: number;
  /** Asks for a plan first, which costs a reply. Default false. */
  readonly plans?: boolean;
  /** Asks for second thoughts when calls repeat, which costs a reply. Default false. */
  readonly reflects?: boolean;
}
