import type { LoopPolicy } from '../core/loop-options.ts';

/** What a role is: a folder with a prompt, a list of tools and a policy. It holds no code of its own. */
export interface RoleDefinition {
  /** Also the folder's name, and `R` in `role:R` on the hub. */
  readonly name: string;
  /** The prompt, a Markdown file: duty, inputs, result, limits. */
  readonly prompt: URL;
  /** Names of files in `tools/`. */
  readonly tools: readonly string[];
  readonly policy: LoopPolicy;
}
