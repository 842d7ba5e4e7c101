/** Commands that one source gives; `setup` counts only together with another one. */
export interface SourceCommands {
  readonly setup?: string;
  readonly build?: string;
  readonly test?: string;
  readonly lint?: string;
  /** The file that they were guessed from. */
  readonly from: string;
}

/** What a detector sees of a commit: names in its root (a folder's ends with a slash), and texts. */
export interface CommitView {
  readonly names: ReadonlySet<string>;
  read(path: string): Promise<string | undefined>;
  list(folder: string): Promise<readonly string[]>;
}
