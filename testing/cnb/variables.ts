import type { Occasion } from './platform.ts';
import type { NpcRole } from './world.ts';

/** What a build knows of itself. */
export interface BuildFacts {
  readonly sn: string;
  readonly token: string;
  readonly workspace: string;
  readonly startedAt: Date;
  readonly maxRunTimeMs: number;
  readonly isRetry: boolean;
  readonly apiUrl: string;
  readonly webUrl: string;
  readonly npcSha: string;
  readonly commit: { readonly sha: string; readonly message: string; readonly author: string };
}

type Variables = Record<string, string>;

/** Values of this size or more never arrive. */
const mostBytes = 100 * 1024;

/** All variables of a build that a mention started; what does not apply is empty, what is too long is dropped. */
export function variablesFor(occasion: Occasion, npc: NpcRole, facts: BuildFacts): Variables {
  const variables = {
    ...machine(facts),
    ...place(occasion, facts),
    ...author(occasion),
    ...thread(occasion),
    ...texts(occasion),
    ...role(occasion, npc, facts),
  };
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, Buffer.byteLength(value) >= mostBytes ? '' : value]),
  );
}

function machine(facts: BuildFacts): Variables {
  const web = new URL(facts.webUrl);
  return {
    CI: 'true',
    CNB: 'true',
    CNB_WEB_PROTOCOL: web.protocol.replace(':', ''),
    CNB_WEB_HOST: web.host,
    CNB_WEB_ENDPOINT: facts.webUrl,
    CNB_API_ENDPOINT: facts.apiUrl,
    CNB_TOKEN: facts.token,
    CNB_TOKEN_USER_NAME: 'cnb',
    CNB_BUILD_ID: facts.sn,
    CNB_BUILD_START_TIME: facts.startedAt.toUTCString(),
    CNB_BUILD_WORKSPACE: facts.workspace,
    CNB_BUILD_STAGE_NAME: 'run agent',
    CNB_BUILD_JOB_NAME: 'run agent',
    CNB_BUILD_JOB_KEY: 'job-0',
    CNB_PIPELINE_NAME: 'agent',
    CNB_PIPELINE_KEY: 'pipeline-0',
    CNB_PIPELINE_ID: `${facts.sn}-001`,
    CNB_PIPELINE_DOCKER_IMAGE: '',
    CNB_PIPELINE_MAX_RUN_TIME: String(facts.maxRunTimeMs),
    CNB_RUNNER_IP: '127.0.0.1',
    CNB_CPUS: '4',
    CNB_MEMORY: '8',
    CNB_IS_RETRY: facts.isRetry ? 'true' : 'false',
    CNB_DOCKER_REGISTRY: `docker.${web.host}`,
    CNB_HAS_LFS_FILES: 'false',
    CNB_IS_CRONEVENT: 'false',
    CNB_IS_TAG: 'false',
    CNB_IS_NEW_BRANCH: 'false',
  };
}

function place({ repository, thread }: Occasion, facts: BuildFacts): Variables {
  const { slug } = repository;
  const [root = ''] = slug.split('/');
  const group = slug.split('/').slice(0, -1).join('/');
  const event = thread.kind === 'issue' ? 'issue.comment@npc' : 'pull_request.comment@npc';
  return {
    CNB_EVENT: event,
    CNB_EVENT_URL: thread.kind === 'issue' ? '' : `${facts.webUrl}/${slug}/-/pulls/${thread.number}`,
    CNB_BRANCH: thread.kind === 'issue' ? repository.defaultBranch : thread.base,
    CNB_BRANCH_SHA: thread.kind === 'issue' ? facts.commit.sha : thread.baseSha,
    CNB_DEFAULT_BRANCH: repository.defaultBranch,
    CNB_REPO_SLUG: slug,
    CNB_REPO_SLUG_LOWERCASE: slug.toLowerCase(),
    CNB_REPO_NAME: slug.split('/').at(-1) ?? '',
    CNB_REPO_NAME_LOWERCASE: (slug.split('/').at(-1) ?? '').toLowerCase(),
    CNB_REPO_ID: repository.id,
    CNB_REPO_URL_HTTPS: `${facts.webUrl}/${slug}`,
    CNB_GROUP_SLUG: group,
    CNB_GROUP_SLUG_LOWERCASE: group.toLowerCase(),
    CNB_ROOT_SLUG: root,
    CNB_ROOT_SLUG_LOWERCASE: root.toLowerCase(),
    CNB_FORK_FROM_REPO_SLUG: repository.forkOf ?? '',
    CNB_COMMIT: facts.commit.sha,
    CNB_COMMIT_SHORT: facts.commit.sha.slice(0, 8),
    CNB_COMMIT_MESSAGE: facts.commit.message,
    CNB_COMMIT_MESSAGE_TITLE: facts.commit.message.split('\n')[0] ?? '',
    CNB_COMMITTER: facts.commit.author,
    CNB_BUILD_WEB_URL: `${facts.webUrl}/${slug}/-/build/logs/${facts.sn}`,
  };
}

function author({ author: { username, nickname, npc } }: Occasion): Variables {
  return {
    CNB_BUILD_USER: username,
    CNB_BUILD_USER_NICKNAME: nickname,
    CNB_BUILD_USER_EMAIL: '',
    CNB_BUILD_USER_ID: '',
    CNB_BUILD_USER_NPC_SLUG: npc?.slug ?? '',
    CNB_BUILD_USER_NPC_NAME: npc?.name ?? '',
  };
}

function thread({ thread, repository }: Occasion): Variables {
  const is = thread.kind;
  const issue = (value: string): string => (is === 'issue' ? value : '');
  const pull = thread.kind === 'pr' ? thread : undefined;
  return {
    CNB_ISSUE_ID: issue(thread.id),
    CNB_ISSUE_IID: issue(thread.number),
    CNB_ISSUE_TITLE: issue(thread.title),
    CNB_ISSUE_DESCRIPTION: issue(thread.body),
    CNB_ISSUE_OWNER: issue(thread.author.username),
    CNB_ISSUE_STATE: issue(thread.state),
    CNB_ISSUE_IS_RESOLVED: issue(thread.state === 'closed' ? 'true' : 'false'),
    CNB_ISSUE_ASSIGNEES: issue(thread.assignees.join(',')),
    CNB_ISSUE_LABELS: issue(thread.labels.join(',')),
    CNB_ISSUE_PRIORITY: '',
    CNB_PULL_REQUEST: '',
    CNB_PULL_REQUEST_LIKE: pull ? 'true' : '',
    CNB_PULL_REQUEST_PROPOSER: pull?.author.username ?? '',
    CNB_PULL_REQUEST_TITLE: pull?.title ?? '',
    CNB_PULL_REQUEST_DESCRIPTION: pull?.body ?? '',
    CNB_PULL_REQUEST_BRANCH: pull?.head.branch ?? '',
    CNB_PULL_REQUEST_SHA: pull?.headSha ?? '',
    CNB_PULL_REQUEST_TARGET_SHA: pull?.baseSha ?? '',
    CNB_PULL_REQUEST_MERGE_SHA: pull?.mergeSha ?? '',
    CNB_PULL_REQUEST_SLUG: pull ? (pull.head.slug ?? repository.slug) : '',
    CNB_PULL_REQUEST_ACTION: '',
    CNB_PULL_REQUEST_ID: pull?.id ?? '',
    CNB_PULL_REQUEST_IID: pull?.number ?? '',
    CNB_PULL_REQUEST_REVIEWERS: '',
    CNB_PULL_REQUEST_IS_WIP: pull ? 'false' : '',
  };
}

function texts({ comment, review, inline }: Occasion): Variables {
  const written = inline ?? comment;
  const lines =
    inline && inline.startLine > 0 ? [...new Set([inline.startLine, inline.endLine])].map((line) => `L${line}`) : [];
  const states: Readonly<Record<string, string>> = { approved: 'approve', changes_requested: 'unapprove' };
  return {
    CNB_COMMENT_ID: written?.id ?? '',
    CNB_COMMENT_BODY: written?.body ?? '',
    CNB_COMMENT_TYPE: inline ? 'diff_note' : written ? 'note' : '',
    CNB_COMMENT_FILE_PATH: inline?.path ?? '',
    CNB_COMMENT_RANGE: lines.join('-'),
    CNB_REVIEW_ID: review?.id ?? '',
    CNB_REVIEW_DESCRIPTION: review?.body ?? '',
    CNB_PULL_REQUEST_REVIEW_STATE: states[review?.state ?? ''] ?? '',
    CNB_REVIEW_REVIEWED_BY: review?.author.username ?? '',
  };
}

function role(occasion: Occasion, npc: NpcRole, facts: BuildFacts): Variables {
  return {
    CNB_NPC_SLUG: npc.slug,
    CNB_NPC_SLUG_LOWERCASE: npc.slug.toLowerCase(),
    CNB_NPC_NAME: npc.name,
    CNB_NPC_SHA: facts.npcSha,
    CNB_NPC_PROMPT: npc.prompt ?? '',
    CNB_NPC_SLOGAN: npc.slogan ?? '',
    CNB_NPC_AVATAR: '',
    CNB_NPC_ENABLE_THINKING: 'false',
    CNB_NPC_ENABLE_WORKMODE: occasion.workMode ? 'true' : 'false',
    CNB_NPC_TRIGGER_CONTENT: occasion.text,
  };
}
