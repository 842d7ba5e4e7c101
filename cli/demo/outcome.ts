import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { countLog, readLog } from '../../hub/index.ts';
import type { Cause, Verdict } from '../../protocol/index.ts';
import type { Build, FakeComment, FakePull } from '../../testing/cnb-server.ts';
import { foldRun, type RunStory } from '../read/fold-run.ts';
import type { Stage } from './stage.ts';

/** What the demo came to, as `--json` prints it. The platform's side is told by the platform, not by the run. */
export interface Outcome {
  readonly verdict: Verdict | null;
  readonly cause: Cause | null;
  /** Comments by the agent in the thread. */
  readonly comment_count: number;
  readonly pr_number: string | null;
  readonly branch: string | null;
  readonly head_sha: string | null;
  /** The repository's own tests as the run's code ran them, oldest first. */
  readonly tests_run: readonly { readonly command: string; readonly exit: number | null; readonly sha: string }[];
  /** Frames in the message log. */
  readonly messages: number;
  /** From the mention to the end of the build. */
  readonly seconds: number;
  /** From the start of the run to its comment; null when it never came. */
  readonly first_comment_ms: number | null;
  readonly state_dir: string;
  /** Path of the bare repository, for `git clone`. */
  readonly clone_url: string;
}

/** An outcome with what it was taken from, for showing. */
export interface Played {
  readonly outcome: Outcome;
  readonly story: RunStory | undefined;
  readonly comment: FakeComment | undefined;
  readonly pull: FakePull | undefined;
}

/** Gathers the outcome of a build from the platform and from the run's log. */
export async function gatherOutcome(stage: Stage, build: Build, folder: string, seconds: number): Promise<Played> {
  const { platform, repository } = stage;
  const database = join(folder, 'log.db');
  // a run that found nothing to do leaves no log
  const hasLog = existsSync(database);
  const story = hasLog ? await foldRun(readLog(database)) : undefined;
  const [opened] = platform.pulls(repository.slug);
  const pull = opened && (await platform.pull(repository.slug, opened.number));
  const thread = platform.thread(repository.slug, stage.issue.number);
  const comments = thread.comments.filter(({ author }) => author.npc !== undefined);
  const posted = comments[0]?.edits[0]?.at;
  const outcome: Outcome = {
    verdict: story?.verdict?.verdict ?? null,
    cause: story?.verdict?.cause ?? null,
    comment_count: comments.length,
    pr_number: pull?.number ?? null,
    branch: pull?.head.branch ?? null,
    head_sha: pull?.headSha ?? null,
    tests_run: (story?.gates ?? [])
      .filter(({ kind }) => kind === 'test')
      .map(({ command, exit, sha }) => ({ command, exit, sha })),
    messages: hasLog ? await countLog(database) : 0,
    seconds: Math.round(seconds * 10) / 10,
    first_comment_ms: posted === undefined || build.startedAt === undefined ? null : posted - build.startedAt,
    state_dir: folder,
    clone_url: repository.folder,
  };
  return { outcome, story, comment: comments[0], pull };
}
