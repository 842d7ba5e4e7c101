import type { Forge } from '../coordinator/forge.ts';
import type { Trigger, TriggerReading } from '../coordinator/trigger.ts';
import { deadlineOf } from './deadline.ts';
import { languageOf } from './language.ts';
import { stripMention } from './mention.ts';
import { contradictions, isSlug, missingNames, notForUs } from './trigger-checks.ts';
import { type Environment, kindOf, type Read, variablesOf, writtenText } from './variables.ts';

/** Settings of {@link readTrigger}. */
export interface TriggerOptions {
  /** Role names this agent answers to; every role of its repository when absent. */
  readonly roles?: readonly string[];
  /** Wall clock, ms. */
  readonly now?: () => number;
}

/** Turns the variables of a CNB build into what is to be done. Reads nothing else. */
export function readTrigger(env: Environment, options: TriggerOptions = {}): TriggerReading {
  const read = variablesOf(env);
  const reason = notForUs(read, options.roles);
  if (reason !== undefined) return { kind: 'not_for_us', reason };
  const missing = missingNames(read);
  if (missing.length > 0) {
    return {
      kind: 'unusable',
      message: `These variables are missing: ${missing.join(', ')}. CNB sets them when a mention starts a build; anywhere else use npc-crew run --goal "…" --repo DIR.`,
    };
  }
  const wrong = contradictions(read);
  const trigger = triggerOf(read, options.now?.() ?? Date.now());
  if (wrong.length > 0) {
    const message = `The variables of this build contradict each other: ${wrong.join('; ')}. Start the pipeline from issue.comment@npc or pull_request.comment@npc without setting CNB_ variables yourself.`;
    return { kind: 'impossible', cause: 'misconfigured', message, ...(isSlug(trigger.thread?.slug) && { trigger }) };
  }
  return trigger.requestDropped ? { kind: 'run', trigger } : askForRequest(trigger);
}

/** Reads a request that the platform dropped for its size, by its id, and gives the reading that follows. */
export async function completeTrigger(
  trigger: Trigger,
  forge: Pick<Forge, 'readRequestText'>,
  npcSlug?: string,
): Promise<TriggerReading> {
  if (!trigger.requestDropped) return { kind: 'run', trigger };
  const { requestDropped: _, ...rest } = trigger;
  const text = (await forge.readRequestText()) ?? '';
  const request = stripMention({ name: trigger.role, ...(npcSlug !== undefined && { slug: npcSlug }) }, text);
  return askForRequest({ ...rest, request, language: languageOf(request) });
}

function askForRequest(trigger: Trigger): TriggerReading {
  if (trigger.request !== '') return { kind: 'run', trigger };
  const message =
    trigger.language === 'zh-CN'
      ? '没有看到具体的请求：请在提及之后写明要做什么。'
      : 'The mention came without a request: write behind it what is to be done.';
  return { kind: 'impossible', cause: 'needs_input', message, trigger };
}

function triggerOf(read: Read, now: number): Trigger {
  const issue = read('CNB_ISSUE_IID');
  const pull = read('CNB_PULL_REQUEST_IID');
  // With one number alone the thread is that one, whatever the event says.
  const kind = issue && pull ? (kindOf(read('CNB_EVENT')) ?? 'issue') : issue ? 'issue' : 'pr';
  const slug = read('CNB_REPO_SLUG') ?? '';
  const role = read('CNB_NPC_NAME') ?? '';
  const npcSlug = read('CNB_NPC_SLUG');
  const occasion =
    read('CNB_COMMENT_ID') ?? (read('CNB_REVIEW_ID') ? `review-${read('CNB_REVIEW_ID')}` : 'description');
  const title = (kind === 'issue' ? read('CNB_ISSUE_TITLE') : read('CNB_PULL_REQUEST_TITLE')) ?? '';
  const description = (kind === 'issue' ? read('CNB_ISSUE_DESCRIPTION') : read('CNB_PULL_REQUEST_DESCRIPTION')) ?? '';
  const text = read('CNB_NPC_TRIGGER_CONTENT') ?? writtenText(read);
  const stripped = stripMention({ name: role, ...(npcSlug !== undefined && { slug: npcSlug }) }, text ?? '');
  // A description that is only a mention leaves the title as the request.
  const request = stripped === '' && occasion === 'description' && text !== undefined ? title.trim() : stripped;
  const source = read('CNB_PULL_REQUEST_SLUG');
  const fork =
    kind === 'pr' && source !== undefined && source.toLowerCase() !== slug.toLowerCase() ? source : undefined;
  const number = (kind === 'issue' ? issue : pull) ?? '';
  const deadline = deadlineOf({
    limit: read('CNB_PIPELINE_MAX_RUN_TIME'),
    start: read('CNB_BUILD_START_TIME'),
    now,
  });
  const path = kind === 'pr' ? read('CNB_COMMENT_FILE_PATH') : undefined;
  const pullBranch = kind === 'pr' && fork === undefined ? read('CNB_PULL_REQUEST_BRANCH') : undefined;
  const buildUrl = read('CNB_BUILD_WEB_URL');
  return {
    request,
    ...(text === undefined && { requestDropped: true as const }),
    language: languageOf(request, title, description),
    thread: { slug, kind, number, occasion },
    actor: read('CNB_BUILD_USER') ?? read('CNB_BUILD_USER_NPC_NAME') ?? '',
    role,
    workMode: read('CNB_NPC_ENABLE_WORKMODE') === 'true',
    workspace: read('CNB_BUILD_WORKSPACE') ?? read('PWD') ?? '',
    baseBranch: (kind === 'pr' ? read('CNB_BRANCH') : (read('CNB_DEFAULT_BRANCH') ?? read('CNB_BRANCH'))) ?? '',
    ...(pullBranch !== undefined && { pullBranch }),
    ...(fork !== undefined && { forkSlug: fork }),
    ...(path !== undefined && { inline: { path, range: read('CNB_COMMENT_RANGE') ?? '' } }),
    ...(buildUrl !== undefined && { buildUrl }),
    ...(deadline !== undefined && { deadline }),
    isRetry: read('CNB_IS_RETRY') === 'true',
  };
}
