import { adviceFor } from './advice.ts';
import type { RepoConfig } from './repo-config.ts';
import type { Trigger } from './trigger.ts';
import { endRun } from './verdict.ts';

/** Ends the run when the repository's file does not let this actor start one. A person at the machine (`--goal`) is always allowed. */
export function checkAllowed(trigger: Trigger, { users, access }: RepoConfig['allow']): void {
  if (!trigger.thread) return;
  const { actor, language } = trigger;
  const zh = language === 'zh-CN';
  // An unchecked limit would let in whom it is meant to keep out.
  if (access !== undefined) {
    const message = zh
      ? '尚不支持 .npc/config.yml 里的 allow.access，请改用 allow.users。'
      : 'allow.access of .npc/config.yml is not supported yet; use allow.users.';
    endRun('misconfigured', message, adviceFor('misconfigured', trigger));
  }
  if (!users || users.includes(actor)) return;
  endRun(
    'no_permission',
    zh ? `${actor} 不在 .npc/config.yml 的 allow.users 里。` : `${actor} is not in allow.users of .npc/config.yml.`,
    zh ? '请名单里的人来提及我。' : 'Ask somebody on that list to mention me.',
  );
}
