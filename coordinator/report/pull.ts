import type { RunRecord } from '../record.ts';
import { cell } from './fit.ts';
import { lastGates } from './render.ts';
import { textsFor } from './texts.ts';
import { changedFiles } from './view.ts';

/** The pull request's description: which issue, which files, which commands passed. */
export function renderPullBody(options: {
  readonly language: 'zh-CN' | 'en';
  readonly issue: string;
  readonly record: RunRecord;
  readonly runKey: string;
}): string {
  const t = textsFor(options.language);
  const files = changedFiles(options.record).map((file) => `- \`${file}\``);
  const gates = lastGates(options.record.gates).map(
    (gate) =>
      `| \`${cell(gate.command)}\` | ${gate.missing ? t.missing(gate.missing) : `${t.exit} ${gate.exit}`} | \`${gate.sha.slice(0, 8)}\` | ${(gate.ms / 1000).toFixed(1)} s |`,
  );
  return [
    `#${options.issue}`,
    `**${t.changed}**\n${files.join('\n')}`,
    gates.length > 0 ? `**${t.evidence}**\n\n${t.evidenceHead}\n${gates.join('\n')}` : '',
    `<sub>npc-crew · run ${options.runKey}</sub>`,
  ]
    .filter(Boolean)
    .join('\n\n');
}
