/** What a person's own token may do. */
export const personScopes: ReadonlySet<string> = new Set([
  'repo-code:rw',
  'repo-pr:rw',
  'repo-issue:rw',
  'repo-notes:rw',
  'repo-contents:rw',
  'repo-cnb-trigger:rw',
  'repo-cnb-history:r',
  'repo-basic-info:r',
  'repo-manage:r',
  'account-profile:r',
]);

/** What the token of a build started by a mention may do. */
export function npcScopes(workMode: boolean): ReadonlySet<string> {
  return new Set(
    workMode
      ? ['repo-code:rw', 'repo-pr:rw', 'repo-issue:rw', 'repo-notes:rw', 'registry-package:r']
      : ['repo-code:r', 'repo-pr:r', 'repo-issue:rw', 'repo-notes:rw', 'registry-package:r'],
  );
}

/** Whether `granted` covers `needed` (`name:r` or `name:rw`); `rw` covers `r`. */
export function covers(granted: ReadonlySet<string>, needed: string): boolean {
  return granted.has(needed) || granted.has(needed.replace(/:r$/, ':rw'));
}
