import type { Cause, TaskSubState } from '../../protocol/index.ts';

/** Every text that a user reads in the comment, in one language. */
export interface Texts {
  readonly working: string;
  readonly green: string;
  readonly answered: string;
  readonly reviewed: string;
  readonly partial: string;
  readonly red: string;
  readonly stopped: string;
  readonly step: string;
  readonly steps: Readonly<Record<string, string>>;
  readonly cause: Readonly<Record<Cause, string>>;
  readonly nextStep: string;
  readonly rerunHelps: string;
  readonly rerunUseless: string;
  readonly limits: string;
  readonly changed: string;
  readonly nothingChanged: string;
  readonly leftOut: string;
  readonly account: string;
  readonly evidence: string;
  readonly evidenceHead: string;
  readonly noEvidence: string;
  readonly guessed: string;
  readonly notChecked: string;
  readonly plan: string;
  readonly tasks: string;
  readonly tasksHead: string;
  readonly states: Readonly<Record<TaskSubState, string>>;
  readonly notes: string;
  readonly objections: string;
  readonly remarksPosted: (count: number) => string;
  readonly mentions: string;
  readonly usage: (calls: number, input: number, output: number, seconds: number) => string;
  readonly comma: string;
  readonly cost: (amount: string, doubts: string) => string;
  readonly costUnknown: string;
  /** `amount` is what the platform said it took; empty when it did not say. */
  readonly credits: (amount: string) => string;
  readonly estimated: (tries: number) => string;
  readonly unpriced: (tries: number) => string;
  readonly budgetLeft: (amounts: string) => string;
  readonly budgetSpent: (used: string, kept: boolean) => string;
  readonly uncounted: (currencies: string) => string;
  readonly usedOf: (used: string, limit: string) => string;
  readonly units: Readonly<Record<'tokens' | 'calls' | 'seconds', (amount: string) => string>>;
  readonly costs: string;
  readonly costsHead: string;
  readonly links: {
    readonly pull: string;
    readonly branch: string;
    readonly wip: string;
    readonly build: string;
    readonly log: string;
  };
  readonly cut: string;
  readonly pointer: string;
  readonly damaged: (path: string) => string;
  readonly exit: string;
  readonly missing: (program: string) => string;
  readonly noExit: string;
}

const zh: Texts = {
  working: '⏳ 正在处理',
  green: '✅ 已完成',
  answered: '✅ 已回答',
  reviewed: '✅ 已评审',
  partial: '⚠️ 部分完成',
  red: '❌ 未完成',
  stopped: '⏹️ 已停止',
  step: '当前步骤',
  steps: {
    claim: '认领请求',
    preflight: '检查条件',
    context: '阅读上下文',
    work: '执行任务',
    gates: '运行仓库自己的命令',
    review: '核对证据',
    deliver: '推送与提交合并请求',
    report: '汇总',
  },
  cause: {
    unverified: '没有可运行的测试命令，改动未经验证',
    needs_input: '需要你补充信息',
    toolchain_missing: '镜像里缺少所需的程序，相关命令没有运行',
    time_limit: '时间用完',
    budget: '预算用完',
    step_limit: '步数用完',
    conflict: '与目标分支冲突',
    push_rejected: '推送被拒绝',
    review_rejected: '评审仍有异议',
    upstream_error: '模型服务出错',
    auth: '模型密钥被拒绝',
    quota: '模型额度用完',
    rate_limited: '模型服务限流',
    empty_reply: '模型没有返回内容',
    left_running: '有工作被留在后台，没有做完',
    artifact_missing: '声称的产物不存在',
    tests_failing: '测试没有通过',
    no_change: '没有产生任何改动',
    no_permission: '没有写入代码的权限',
    no_worker: '没有可用的执行者',
    misconfigured: '配置有误',
    disk_full: '磁盘空间不足',
    crashed: '执行过程反复崩溃',
    stalled: '执行停滞，没有进展',
    tests_weakened: '改动削弱了测试',
    unproven: '无法证明请求已完成',
    interrupted: '运行被中断',
    cancelled: '已按要求停止',
  },
  nextStep: '下一步',
  rerunHelps: '再次运行可能有用。',
  rerunUseless: '原样再次运行没有用。',
  limits: '限制',
  changed: '改动的文件',
  nothingChanged: '没有任何文件被改动。',
  leftOut: '未纳入提交的内容',
  account: '执行者的说明（自述，未经核实）',
  evidence: '证据（由协调程序在干净目录里亲自运行）',
  evidenceHead: '| 命令 | 结果 | 提交 | 用时 |\n|---|---|---|---|',
  noEvidence: '没有运行任何命令。',
  guessed: '（推断）',
  notChecked: '未核实',
  plan: '计划',
  tasks: '任务',
  tasksHead: '| 任务 | 执行者 | 状态 | 尝试 |\n|---|---|---|---|',
  states: {
    queued: '排队',
    offered: '已派发',
    working: '进行中',
    input_required: '等待回答',
    cancelling: '正在取消',
    done: '完成',
    failed: '失败',
    cancelled: '已取消',
    dead: '尝试用尽',
  },
  notes: '备注',
  objections: '退回的原因与评审意见',
  remarksPosted: (count) => `评审意见已写在合并请求的代码行上：${count} 条。`,
  mentions: '运行期间的新提及（尚不支持中途调整；它们各自的运行会在本次之后处理）',
  usage: (calls, input, output, seconds) =>
    `${calls} 次模型调用，输入 ${input} / 输出 ${output} tokens，用时 ${seconds} 秒`,
  comma: '，',
  cost: (amount, doubts) => `费用 ${amount}${doubts && `（${doubts}）`}`,
  costUnknown: '费用未知（模型价格未知）',
  credits: (amount) => `平台模型，消耗 AI 额度${amount && ` ${amount}`}`,
  estimated: (tries) => `${tries} 次调用的用量为估算`,
  unpriced: (tries) => `${tries} 次调用的价格未知，未计入`,
  budgetLeft: (amounts) => `预算剩余 ${amounts}`,
  budgetSpent: (used, kept) =>
    `本次运行的预算已用完：${used}。之后没有再询问任何模型。${kept ? '已完成的工作保留在分支上。' : ''}`,
  uncounted: (currencies) => `以 ${currencies} 计的费用不计入预算（未给出汇率）`,
  usedOf: (used, limit) => `已用 ${used}，上限 ${limit}`,
  units: {
    tokens: (amount) => `${amount} tokens`,
    calls: (amount) => `${amount} 次调用`,
    seconds: (amount) => `${amount} 秒`,
  },
  costs: '模型用量与费用',
  costsHead: '| 角色 | 模型 | 调用 | 输入 | 其中缓存 | 输出 | 费用 |\n|---|---|---|---|---|---|---|',
  links: { pull: '合并请求', branch: '分支', wip: '进行中的分支', build: '构建日志', log: '消息日志（已脱敏）' },
  cut: '（内容过长，已截断；完整内容见附件或构建日志。）',
  pointer: '这个请求已有一次运行在处理，请看它的评论。',
  damaged: (path) => `状态文件损坏，已移到 ${path}，从讨论串重新开始。`,
  exit: '退出码',
  missing: (program) => `未运行：缺少 ${program}`,
  noExit: '未能结束',
};

const en: Texts = {
  working: '⏳ At work',
  green: '✅ Done',
  answered: '✅ Answered',
  reviewed: '✅ Reviewed',
  partial: '⚠️ Partly done',
  red: '❌ Not done',
  stopped: '⏹️ Stopped',
  step: 'Step',
  steps: {
    claim: 'claiming the request',
    preflight: 'checking what it needs',
    context: 'reading the context',
    work: 'working',
    gates: "running the repository's own commands",
    review: 'checking the evidence',
    deliver: 'pushing and opening the pull request',
    report: 'writing the report',
  },
  cause: {
    unverified: 'there is no test command, so the change is unverified',
    needs_input: 'it needs an answer from you',
    toolchain_missing: 'a program is missing in the image, so its commands were not run',
    time_limit: 'the time was used up',
    budget: 'the budget was used up',
    step_limit: 'the steps were used up',
    conflict: 'it conflicts with the target branch',
    push_rejected: 'the push was rejected',
    review_rejected: 'the review still objects',
    upstream_error: 'the model service failed',
    auth: 'the model key was rejected',
    quota: 'the model quota is used up',
    rate_limited: 'the model service limits the rate',
    empty_reply: 'the model answered nothing',
    left_running: 'work was left in the background, unfinished',
    artifact_missing: 'a claimed result does not exist',
    tests_failing: 'the tests do not pass',
    no_change: 'nothing was changed',
    no_permission: 'there is no right to write code',
    no_worker: 'nobody was there to do it',
    misconfigured: 'the configuration is wrong',
    disk_full: 'the disk is full',
    crashed: 'it crashed again and again',
    stalled: 'it made no progress',
    tests_weakened: 'the change weakens the tests',
    unproven: 'it could not be proved that the request is fulfilled',
    interrupted: 'the run was interrupted',
    cancelled: 'it was stopped as asked',
  },
  nextStep: 'Next step',
  rerunHelps: 'Running it again may help.',
  rerunUseless: 'Running it again as it is does not help.',
  limits: 'Limits',
  changed: 'Changed files',
  nothingChanged: 'No file was changed.',
  leftOut: 'Left out of the commit',
  account: "The worker's own account (a claim, not checked)",
  evidence: 'Evidence (run by the coordinator itself in a clean tree)',
  evidenceHead: '| command | result | commit | time |\n|---|---|---|---|',
  noEvidence: 'No command was run.',
  guessed: ' (guessed)',
  notChecked: 'not checked',
  plan: 'Plan',
  tasks: 'Tasks',
  tasksHead: '| task | agent | state | attempts |\n|---|---|---|---|',
  states: {
    queued: 'queued',
    offered: 'offered',
    working: 'working on it',
    input_required: 'waits for an answer',
    cancelling: 'being cancelled',
    done: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
    dead: 'attempts used up',
  },
  notes: 'Notes',
  objections: 'Why work came back, and review remarks',
  remarksPosted: (count) => `Review remarks at their lines in the pull request: ${count}.`,
  mentions: 'Mentions made meanwhile (steering a live run is not supported yet; their own runs follow after this one)',
  usage: (calls, input, output, seconds) => `${calls} model calls, ${input} tokens in / ${output} out, ${seconds} s`,
  comma: ', ',
  cost: (amount, doubts) => `cost ${amount}${doubts && ` (${doubts})`}`,
  costUnknown: 'cost unknown (no known price)',
  credits: (amount) => `models of the platform, paid for with ${amount ? `${amount} ` : ''}AI credits`,
  estimated: (tries) => `tokens of ${tries} ${tries === 1 ? 'call' : 'calls'} estimated`,
  unpriced: (tries) => `without ${tries} ${tries === 1 ? 'call' : 'calls'} of unknown price`,
  budgetLeft: (amounts) => `budget left: ${amounts}`,
  budgetSpent: (used, kept) =>
    `The run's budget is used up: ${used}. No model was asked any more.${kept ? ' Work that was done is kept on the branch.' : ''}`,
  uncounted: (currencies) => `costs in ${currencies} do not count in the budget (no rate was given)`,
  usedOf: (used, limit) => `${used} of ${limit}`,
  units: {
    tokens: (amount) => `${amount} tokens`,
    calls: (amount) => `${amount} calls`,
    seconds: (amount) => `${amount} s`,
  },
  costs: 'Models and costs',
  costsHead: '| role | model | calls | in | of it cached | out | cost |\n|---|---|---|---|---|---|---|',
  links: {
    pull: 'Pull request',
    branch: 'Branch',
    wip: 'Work in progress',
    build: 'Build log',
    log: 'Message log (redacted)',
  },
  cut: '(Cut because of its length; the attachment or the build log has all of it.)',
  pointer: 'A run is already at work on this request; see its comment.',
  damaged: (path) => `A state file was damaged and moved to ${path}; the run went on from the thread.`,
  exit: 'exit',
  missing: (program) => `not run: ${program} is missing`,
  noExit: 'did not end',
};

export function textsFor(language: 'zh-CN' | 'en'): Texts {
  return language === 'zh-CN' ? zh : en;
}
