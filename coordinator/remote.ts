import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, messageOf } from '../base/errors.ts';
import type { GitOptions, GitResult } from './git.ts';

/** How a push ended; `message` is what the remote said, secrets masked. */
export type PushOutcome =
  | { readonly kind: 'ok' }
  /** `moved`: the branch holds commits that this push does not; `declined`: a rule or hook of the remote said no. */
  | { readonly kind: 'rejected'; readonly reason: 'moved' | 'declined'; readonly message: string }
  /** No right to write, or no such repository for this login. */
  | { readonly kind: 'forbidden'; readonly message: string }
  /** Not reached, or no sensible answer, after the retries. */
  | { readonly kind: 'unreachable'; readonly message: string };

/** A git repository at some address, reached with the objects of a local one. */
export interface RemoteAccess {
  readonly url: string;
  /** Runs git in the local repository, logged in to the remote. */
  readonly git: (args: readonly string[], options?: Partial<GitOptions>) => Promise<GitResult>;
  readonly mask: (text: string) => string;
  /** Waits before each retry of an unreachable remote, ms. */
  readonly retryDelaysMs: readonly number[];
}

export interface PushOptions {
  /** Push options such as `ci.skip`; left out when the remote takes none. */
  readonly options?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Fetches one ref (a branch's short name or a full ref) and returns its commit; throws `AppError('git')` when it is not there. */
export async function fetchRef(remote: RemoteAccess, ref: string, signal?: AbortSignal): Promise<string> {
  const source = fullRef(ref);
  // One flat name for each source, since `a` and `a/b` cannot both be refs.
  const target = `refs/npc/fetched/${createHash('sha1').update(source).digest('hex')}`;
  const fetch = (extra: readonly string[]) =>
    remote.git(
      ['fetch', '--no-tags', '--no-write-fetch-head', '--quiet', ...extra, remote.url, `+${source}:${target}`],
      {
        doing: `fetch ${ref} from ${remote.mask(remote.url)}`,
        timeoutMs: 900_000,
        signal,
      },
    );
  const shallow = (await remote.git(['rev-parse', '--is-shallow-repository'])).stdout.trim() === 'true';
  await retrying(remote, signal, async () => {
    // A shallow checkout has no merge base with most branches, so its history is completed as soon as there is a remote to ask.
    if (!shallow) return fetch([]);
    return fetch(['--unshallow']).catch(() => fetch(['--update-shallow']));
  });
  return (await remote.git(['rev-parse', '--verify', `${target}^{commit}`])).stdout.trim();
}

/** The commit that a branch of the remote points to; undefined when there is no such branch. */
export async function lsRemote(
  remote: RemoteAccess,
  branch: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const ref = fullRef(branch);
  const { stdout } = await retrying(remote, signal, () =>
    remote.git(['ls-remote', remote.url, ref], { doing: `read ${branch} of ${remote.mask(remote.url)}`, signal }),
  );
  const line = stdout.split('\n').find((entry) => entry.endsWith(`\t${ref}`));
  return line?.split('\t')[0];
}

/** Pushes refspecs (`<sha>:refs/heads/<branch>`), never forced. An outcome that the remote decides is returned, not thrown. */
export async function pushRefs(
  remote: RemoteAccess,
  refspecs: readonly string[],
  options: PushOptions = {},
): Promise<PushOutcome> {
  const forced = refspecs.find((refspec) => refspec.startsWith('+'));
  if (forced) throw new AppError('internal', `a push is never forced: ${forced}`);
  for (const wait of [...remote.retryDelaysMs, undefined]) {
    const outcome = await pushOnce(remote, refspecs, options);
    if (outcome.kind !== 'unreachable' || wait === undefined) return outcome;
    await delay(wait, undefined, options.signal ? { signal: options.signal } : {});
  }
  throw new AppError('internal', 'a push ends with its last try');
}

async function pushOnce(remote: RemoteAccess, refspecs: readonly string[], options: PushOptions): Promise<PushOutcome> {
  const extras = (options.options ?? []).flatMap((option) => ['-o', option]);
  try {
    const { stdout, stderr, exit } = await remote.git(
      ['push', '--porcelain', '--no-verify', ...extras, remote.url, ...refspecs],
      {
        doing: `push to ${remote.mask(remote.url)}`,
        timeoutMs: 600_000,
        okExits: [0, 1, 128],
        signal: options.signal,
      },
    );
    if (exit === 0) return { kind: 'ok' };
    if (extras.length > 0 && /does not support push options/.test(stderr))
      return pushOnce(remote, refspecs, { signal: options.signal });
    return readRefusal(remote.mask(`${stdout}\n${stderr}`));
  } catch (error) {
    if (error instanceof AppError && error.code === 'timeout') return { kind: 'unreachable', message: error.message };
    throw error;
  }
}

function readRefusal(said: string): PushOutcome {
  const message = telling(said);
  if (
    /\b40[13]\b|repo-code:rw|authentication failed|could not read (username|password)|permission (to .* )?denied|access denied|forbidden/i.test(
      said,
    )
  )
    return { kind: 'forbidden', message };
  if (
    /\(fetch first\)|\(non-fast-forward\)|\(stale info\)|cannot lock ref|failed to update ref|incorrect old value|\(already exists\)/i.test(
      said,
    )
  )
    return { kind: 'rejected', reason: 'moved', message };
  if (/^!.*\[(remote )?rejected\]/m.test(said)) return { kind: 'rejected', reason: 'declined', message };
  if (/src refspec .* does not match|bad object|invalid refspec|not a valid ref/i.test(said))
    throw new AppError('git', `could not push: ${message}`);
  if (/repository .*not found|does not appear to be a git repository|\b404\b/i.test(said))
    return { kind: 'forbidden', message };
  return { kind: 'unreachable', message };
}

/** Deletes a branch of the remote; one that is gone already counts as deleted. */
export async function deleteRemote(remote: RemoteAccess, branch: string, signal?: AbortSignal): Promise<PushOutcome> {
  const outcome = await pushRefs(remote, [`:${fullRef(branch)}`], { signal });
  return outcome.kind === 'rejected' && (await lsRemote(remote, branch, signal)) === undefined
    ? { kind: 'ok' }
    : outcome;
}

function fullRef(ref: string): string {
  return ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
}

function telling(said: string): string {
  const lines = said.split('\n').filter((line) => /^(!|remote:|fatal:|error:)/.test(line.trim()));
  return (lines.length > 0 ? lines : said.split('\n').filter((line) => line.trim() !== '')).join('; ').slice(0, 600);
}

/** Tries again what a remote out of reach may grant the next time; what it refused, or does not have, stays. */
async function retrying<T>(remote: RemoteAccess, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  for (const wait of remote.retryDelaysMs) {
    try {
      return await work();
    } catch (error) {
      const final =
        /\b40[134]\b|authentication failed|could not read (username|password)|couldn't find remote ref|not found|not appear to be/i;
      if (!(error instanceof AppError) || error.code === 'disk_full' || final.test(messageOf(error))) throw error;
      await delay(wait, undefined, signal ? { signal } : {});
    }
  }
  return work();
}
