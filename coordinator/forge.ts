/**
 * What the coordinator needs from a platform that hosts repositories. `cnb` implements it over the CNB API;
 * {@link ./local-forge.ts} stands in for `run --goal`. Every method throws `AppError('forge', …)` whose `details.status` is the HTTP
 * status, when the platform refuses or stays out of reach after retries. All ids are strings.
 */
export interface Forge {
  /** The thread's title, description and every comment, oldest first. */
  readThread(): Promise<Thread>;
  /** Comments made after the comment with this id, oldest first. */
  readCommentsAfter(commentId: string): Promise<readonly ThreadComment[]>;
  postComment(body: string): Promise<ThreadComment>;
  updateComment(commentId: string, body: string): Promise<void>;
  readComment(commentId: string): Promise<ThreadComment | undefined>;
  /** The text that holds the mention which started the run, as the platform keeps it; undefined when it is gone. */
  readRequestText(): Promise<string | undefined>;
  /** Posts the inline remarks of a review (pull requests only), at most ten of them; the rest belongs in the comment. */
  postReview(review: ReviewRequest): Promise<void>;
  findPull(headBranch: string): Promise<Pull | undefined>;
  openPull(request: PullRequestRequest): Promise<Pull>;
  /** The diff of the pull request that the trigger stands in; empty for issues. */
  readPullFiles(): Promise<readonly PullFile[]>;
  /** Uploads a file that comments can link to; undefined where the platform or the token does not allow it. */
  attachFile(file: {
    readonly name: string;
    readonly bytes: Uint8Array;
    readonly type: string;
  }): Promise<string | undefined>;
  /** Where git finds the repository, and the environment that lets git log in there without the token in a URL or a child's arguments. */
  readonly remote: GitRemote;
  /** Web address of a branch, for links in the comment. */
  branchUrl(branch: string): string;
}

export interface GitRemote {
  readonly url: string;
  /** For git processes of the run process only. Contains the token: never pass it to an agent. */
  readonly env: Readonly<Record<string, string>>;
  /** Values that must be masked wherever text leaves the process. */
  readonly secrets: readonly string[];
}

export interface Author {
  readonly username: string;
  readonly isNpc: boolean;
}

export interface ThreadComment {
  readonly id: string;
  readonly author: Author;
  readonly body: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** What the comment asks of us, without the mention; absent when it does not mention us. */
  readonly request?: string;
  /** Position of an inline review comment. */
  readonly inline?: { readonly path: string; readonly range: string };
}

export interface Thread {
  readonly title: string;
  readonly body: string;
  readonly author: Author;
  readonly state: string;
  readonly comments: readonly ThreadComment[];
}

export interface Pull {
  readonly number: string;
  readonly url: string;
  readonly headSha: string;
  readonly state: string;
}

export interface PullRequestRequest {
  readonly title: string;
  readonly body: string;
  readonly head: string;
  readonly base: string;
}

export interface PullFile {
  readonly path: string;
  readonly status: string;
  readonly patch: string;
}

export interface ReviewRequest {
  readonly body: string;
  readonly event: 'comment' | 'request_changes' | 'approve';
  readonly comments: readonly { readonly path: string; readonly line: number; readonly body: string }[];
}
