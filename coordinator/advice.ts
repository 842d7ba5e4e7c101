import type { Cause } from '../protocol/index.ts';

type Language = 'zh-CN' | 'en';

/** What a user does next, by cause, where the run has nothing more exact to say. */
const advice: Readonly<Record<Cause, Readonly<Record<Language, string>>>> = {
  unverified: {
    'zh-CN': '在 `.npc/config.yml` 里加上 `commands: {test: <你的测试命令>}`，然后再次提及我。',
    en: 'Add `commands: {test: <your test command>}` to `.npc/config.yml`, then mention me again.',
  },
  needs_input: { 'zh-CN': '回答上面的问题并再次提及我。', en: 'Answer the question above and mention me again.' },
  toolchain_missing: {
    'zh-CN': '用带有该工具的镜像运行（见 templates/），然后再次提及我。',
    en: 'Run me in an image that has the tool (see templates/), then mention me again.',
  },
  time_limit: {
    'zh-CN': '再次提及我，从进行中的分支继续。',
    en: 'Mention me again to go on from the work-in-progress branch.',
  },
  budget: { 'zh-CN': '把任务拆小，或提高预算。', en: 'Split the request, or raise the budget.' },
  step_limit: { 'zh-CN': '把任务拆小后再次提及我。', en: 'Split the request and mention me again.' },
  conflict: { 'zh-CN': '更新分支后再次提及我。', en: 'Update the branch and mention me again.' },
  push_rejected: {
    'zh-CN': '改动保留在进行中的分支上：自己合并它，或者再次提及我，在最新的提交上重做。（尚不支持自动变基。）',
    en: 'The work is kept on the work-in-progress branch: merge it yourself, or mention me again to have it done on the newest commit. (Rebasing is not supported yet.)',
  },
  review_rejected: {
    'zh-CN': '查看评审意见，补充说明后再次提及我。',
    en: 'Read the review remarks, say more, and mention me again.',
  },
  upstream_error: {
    'zh-CN': '稍后再次提及我；若仍失败，请检查模型服务。',
    en: 'Mention me again later; if it fails again, look at the model service.',
  },
  auth: {
    'zh-CN': '检查 OPENAI_API_KEY 与 OPENAI_BASE_URL，然后再次提及我。',
    en: 'Check OPENAI_API_KEY and OPENAI_BASE_URL, then mention me again.',
  },
  quota: { 'zh-CN': '为模型账户充值，或换一个密钥。', en: 'Top up the model account, or use another key.' },
  rate_limited: { 'zh-CN': '过几分钟再次提及我。', en: 'Mention me again in a few minutes.' },
  empty_reply: {
    'zh-CN': '再次提及我，或换一个模型（NPC_MODEL）。',
    en: 'Mention me again, or use another model (NPC_MODEL).',
  },
  left_running: {
    'zh-CN': '再次提及我，并要求在前台等待命令结束。',
    en: 'Mention me again, asking to wait for commands in the foreground.',
  },
  artifact_missing: { 'zh-CN': '再次提及我，并写明需要的文件。', en: 'Mention me again and name the file you need.' },
  tests_failing: {
    'zh-CN': '看上面的输出，补充线索后再次提及我。',
    en: 'Look at the output above, add what you know, and mention me again.',
  },
  no_change: {
    'zh-CN': '把想要的改动写得更具体，再次提及我。',
    en: 'Say more exactly what should change, and mention me again.',
  },
  no_permission: {
    'zh-CN': '在评论框勾选“让它工作”（工作模式，需要 Developer 及以上权限），然后再次提及我。',
    en: 'Tick work mode in the comment box (it needs the Developer role or higher) and mention me again.',
  },
  no_worker: {
    'zh-CN': '查看构建日志里执行者的输出，再次提及我。',
    en: "Look at the workers' output in the build log and mention me again.",
  },
  misconfigured: {
    'zh-CN': '按上面的说明修正配置，再次提及我。',
    en: 'Correct the configuration as said above and mention me again.',
  },
  disk_full: { 'zh-CN': '清理磁盘或换更大的运行节点。', en: 'Free disk space or use a larger runner.' },
  crashed: { 'zh-CN': '查看构建日志，再次提及我。', en: 'Look at the build log and mention me again.' },
  stalled: {
    'zh-CN': '把任务拆小或写得更具体，再次提及我。',
    en: 'Split the request or say it more exactly, and mention me again.',
  },
  tests_weakened: {
    'zh-CN': '若确实要改测试，请在请求里写明；否则再次提及我。',
    en: 'If the tests are meant to change, say so in the request; else mention me again.',
  },
  unproven: {
    'zh-CN': '看缺少哪些证据，补充说明后再次提及我。',
    en: 'See which evidence is missing, say more, and mention me again.',
  },
  interrupted: { 'zh-CN': '再次提及我即可重新开始。', en: 'Mention me again to start over.' },
  cancelled: { 'zh-CN': '需要时再次提及我。', en: 'Mention me again when you want.' },
};

export function adviceFor(cause: Cause, language: Language): string {
  return advice[cause][language];
}
