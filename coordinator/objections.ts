import type { GateRun, Issue } from '../protocol/index.ts';
import type { FalseEnd } from './claims.ts';
import type { Judgement } from './judge.ts';
import type { Trigger } from './trigger.ts';
import type { WeakenedTest } from './weakened-tests.ts';

type Language = Trigger['language'];

/** How the evidence of an agent's left-over processes begins; their list follows. */
const LEFT_RUNNING = 'left_running:';

/** What the coordinator itself objects to, in the language of the request: the coder reads it, and the user does in the comment. */
export function nothingChanged(language: Language): Issue {
  return blocking(
    language === 'zh-CN'
      ? '与任务开始时相比没有任何文件被改动。请用工具完成改动；若无法完成，请提交 `failed` 并说明原因。'
      : 'No file differs from the start of the task. Make the change with the tools, or submit `failed` and say why it cannot be made.',
  );
}

/** A command of the repository that did not pass; the end of its output is the evidence. */
export function gateFailed(gate: GateRun, language: Language): Issue {
  const sha = gate.sha.slice(0, 8);
  const zh = gate.exit === null ? '没有结束' : `以退出码 ${gate.exit} 结束`;
  const en = gate.exit === null ? 'did not end' : `ended with exit code ${gate.exit}`;
  const message =
    language === 'zh-CN' ? `\`${gate.command}\` 在提交 ${sha} 上${zh}` : `\`${gate.command}\` ${en} at ${sha}`;
  return { ...blocking(message), evidence: gate.tail.slice(-6000) };
}

/** A file that the coder says it made. */
export function artifactMissing(path: string, language: Language): Issue {
  const message =
    language === 'zh-CN'
      ? `声称的文件 \`${path}\` 不在提交里，或是空的。`
      : `the claimed file \`${path}\` is not in the commit, or is empty there.`;
  return { ...blocking(message), path };
}

/** A place where a change makes the tests say less. */
export function testsWeakened({ path, reason }: WeakenedTest, language: Language): Issue {
  const message =
    language === 'zh-CN'
      ? `改动削弱了测试（${reason[language]}）。请恢复测试，改正代码。`
      : `the change weakens the tests: ${reason[language]}. Restore them and mend the code instead.`;
  return { ...blocking(message), path };
}

/** Processes that an agent left behind and that were ended for it; the worker's own words stay where there is no list of them. */
export function leftRunning(issue: Issue, language: Language): Issue {
  const list = issue.evidence?.slice(LEFT_RUNNING.length).trim();
  if (!list || language === 'en') return issue;
  return { ...issue, message: `有进程被留在后台，已被终止，它们没有做完：${list}` };
}

export function isLeftRunning({ evidence }: Issue): boolean {
  return evidence?.startsWith(LEFT_RUNNING) ?? false;
}

/** Why a text is no end. */
export function noEnd({ cause, quote }: FalseEnd, language: Language): string {
  if (cause === 'left_running') {
    return language === 'zh-CN'
      ? `这段话承诺以后再完成，但结束之后不会再有人继续：“${quote}”`
      : `The text promises to finish later, and nobody is there later: "${quote}"`;
  }
  return language === 'zh-CN'
    ? `模型给出的是其服务的报错，而不是结果：“${quote}”`
    : `The model's text is an error message of its service, not an answer: "${quote}"`;
}

/** What a judgement leaves open: what the judge misses, or why its answer does not count. */
export function openPoints({ missing, invented, said }: Judgement, language: Language): string[] {
  if (missing.length > 0) return [...missing];
  const names = invented.join(', ');
  if (language === 'zh-CN') {
    return [names ? `复核引用了不存在的证据 ${names}，不予采信。` : `复核没有引用任何证据，不予采信：“${said}”`];
  }
  return [names ? `The judge cites ${names}, which is not there.` : `The judge's answer names no evidence: "${said}"`];
}

function blocking(message: string): Issue {
  return { severity: 'blocking', message };
}
