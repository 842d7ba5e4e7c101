/** What somebody wants who mentions the agent while a run is live. */
export type MentionKind = 'stop' | 'continue' | 'other';

/**
 * Reads a mention of `role` in a comment: `@Agent …` or `@group/repo(Agent) …`. Quotes and code do not count, as on the platform.
 * Undefined when the agent is not mentioned.
 */
export function readMention(body: string, role: string): MentionKind | undefined {
  const name = role.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const spoken = body
    .replaceAll(/^(`{3,}|~{3,})[\s\S]*?^\1.*$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
    .replaceAll(/^\s*>.*$/gm, '');
  const mention = new RegExp(`(?:^|[\\s,，。;；:：])@(?:[\\w./-]+\\(${name}\\)|${name}(?![\\w/-]))\\s*(.*)`, 'iu').exec(
    spoken,
  );
  if (!mention) return undefined;
  const rest = (mention[1] ?? '').trim().toLowerCase();
  if (/^(stop|cancel|停止|停下|取消|停)[\s.!。！]*$/.test(rest)) return 'stop';
  if (/^(continue|go on|继续)[\s.!。！]*$/.test(rest)) return 'continue';
  return 'other';
}
