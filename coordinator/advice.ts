import type { Cause } from '../protocol/index.ts';
import type { Trigger } from './trigger.ts';

type Language = Trigger['language'];

/** What a user does next, by cause, where the run has nothing more exact to say. */
const advice: Readonly<Record<Cause, Readonly<Record<Language, string>>>> = {
  unverified: {
    'zh-CN': '在 `.npc/config.yml` 里加上 `commands: {test: <你的测试命令>}`，然后{again}。',
    en: 'Add `commands: {test: <your test command>}` to `.npc/config.yml`, then {again}.',
  },
  needs_input: { 'zh-CN': '回答上面的问题并{again}。', en: 'Answer the question above and {again}.' },
  toolchain_missing: {
    'zh-CN': '用带有该工具的镜像运行（见 templates/），然后{again}。',
    en: 'Run me in an image that has the tool (see templates/), then {again}.',
  },
  time_limit: {
    'zh-CN': '{again}，从进行中的分支继续。',
    en: '{Again} to go on from the work-in-progress branch.',
  },
  budget: {
    'zh-CN':
      '把任务拆小，或提高预算（NPC_BUDGET_TOKENS、NPC_BUDGET_MONEY、NPC_BUDGET_CALLS、NPC_BUDGET_SECONDS），然后{again}。',
    en: 'Split the request, or raise the budget (NPC_BUDGET_TOKENS, NPC_BUDGET_MONEY, NPC_BUDGET_CALLS, NPC_BUDGET_SECONDS), and {again}.',
  },
  step_limit: { 'zh-CN': '把任务拆小后{again}。', en: 'Split the request and {again}.' },
  conflict: { 'zh-CN': '更新分支后{again}。', en: 'Update the branch and {again}.' },
  push_rejected: {
    'zh-CN': '改动保留在进行中的分支上：自己合并它，或者{again}，在最新的提交上重做。（尚不支持自动变基。）',
    en: 'The work is kept on the work-in-progress branch: merge it yourself, or {again} to have it done on the newest commit. (Rebasing is not supported yet.)',
  },
  review_rejected: {
    'zh-CN': '查看评审意见，补充说明后{again}。',
    en: 'Read the review remarks, say more, and {again}.',
  },
  upstream_error: {
    'zh-CN': '稍后{again}；若仍失败，请检查模型服务。',
    en: '{Again} later; if it fails again, look at the model service.',
  },
  auth: {
    'zh-CN': '检查 OPENAI_API_KEY 与 OPENAI_BASE_URL，然后{again}。',
    en: 'Check OPENAI_API_KEY and OPENAI_BASE_URL, then {again}.',
  },
  quota: { 'zh-CN': '为模型账户充值，或换一个密钥。', en: 'Top up the model account, or use another key.' },
  rate_limited: { 'zh-CN': '过几分钟{again}。', en: '{Again} in a few minutes.' },
  empty_reply: {
    'zh-CN': '{again}，或换一个模型（NPC_MODEL）。',
    en: '{Again}, or use another model (NPC_MODEL).',
  },
  left_running: {
    'zh-CN': '{again}，并要求在前台等待命令结束。',
    en: '{Again}, asking to wait for commands in the foreground.',
  },
  artifact_missing: { 'zh-CN': '{again}，并写明需要的文件。', en: '{Again} and name the file you need.' },
  tests_failing: {
    'zh-CN': '看上面的输出，补充线索后{again}。',
    en: 'Look at the output above, add what you know, and {again}.',
  },
  no_change: {
    'zh-CN': '把想要的改动写得更具体，{again}。',
    en: 'Say more exactly what should change, and {again}.',
  },
  no_permission: {
    'zh-CN': '在评论框勾选“让它工作”（工作模式，需要 Developer 及以上权限），然后{again}。',
    en: 'Tick work mode in the comment box (it needs the Developer role or higher) and {again}.',
  },
  no_worker: {
    'zh-CN': '查看构建日志里执行者的输出，{again}。',
    en: "Look at the workers' output in the build log and {again}.",
  },
  misconfigured: {
    'zh-CN': '按上面的说明修正配置，{again}。',
    en: 'Correct the configuration as said above and {again}.',
  },
  disk_full: { 'zh-CN': '清理磁盘或换更大的运行节点。', en: 'Free disk space or use a larger runner.' },
  crashed: { 'zh-CN': '查看构建日志，{again}。', en: 'Look at the build log and {again}.' },
  stalled: {
    'zh-CN': '把任务拆小或写得更具体，{again}。',
    en: 'Split the request or say it more exactly, and {again}.',
  },
  tests_weakened: {
    'zh-CN': '若确实要改测试，请在请求里写明；否则{again}。',
    en: 'If the tests are meant to change, say so in the request; else {again}.',
  },
  unproven: {
    'zh-CN': '看缺少哪些证据，补充说明后{again}。',
    en: 'See which evidence is missing, say more, and {again}.',
  },
  interrupted: { 'zh-CN': '{again}即可重新开始。', en: '{Again} to start over.' },
  cancelled: { 'zh-CN': '需要时{again}。', en: '{Again} when you want.' },
};

/** How one starts over: in a thread by another mention, at the machine by the command. */
const again = {
  thread: { 'zh-CN': '再次提及我', en: 'mention me again' },
  local: { 'zh-CN': '再运行一次', en: 'run it again' },
} as const;

/** What the user does next about `cause`, in the language of the request and in words that fit where it was made. */
export function adviceFor(cause: Cause, { language, thread }: Pick<Trigger, 'language' | 'thread'>): string {
  const words = again[thread ? 'thread' : 'local'][language];
  return advice[cause][language]
    .replaceAll('{again}', words)
    .replaceAll('{Again}', `${words[0]?.toUpperCase()}${words.slice(1)}`);
}
