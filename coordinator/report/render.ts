import type { GateRun, Issue } from '../../protocol/index.ts';
import { doneEffect } from '../record.ts';
import { cell, fenced, fitComment } from './fit.ts';
import { type Marker, writeMarker } from './marker.ts';
import { spendingLine, spendingTable } from './spending.ts';
import { type Texts, textsFor } from './texts.ts';
import { changedFiles, nodeOf, type RunView } from './view.ts';

/** Version shown in the footer. */
export interface Footer {
  readonly version: string;
  readonly marker: Marker;
}

/** The comment while the run works: where it stands, what it may not do, and the task table. */
export function renderProgress(view: RunView, footer: Footer): string {
  const t = textsFor(view.language);
  const step = t.steps[view.record.step] ?? view.record.step;
  return assemble(view, footer, t, [
    `### ${t.working}`,
    step && `**${t.step}**: ${step}`,
    limits(view, t),
    planList(view, t),
    taskTable(view, t),
    evidence(view, t, { orNothing: true }),
    notes(view, t),
    mentions(view, t),
  ]);
}

/** The comment when the run is over: verdict, evidence, changes, tasks, cost. Nothing stands here as a fact that no event carries. */
export function renderFinal(view: RunView, footer: Footer): string {
  const t = textsFor(view.language);
  const verdict = view.record.verdict;
  return assemble(view, footer, t, [
    `### ${headline(view, t)}`,
    verdict?.cause &&
      `**${t.cause[verdict.cause]}** (\`${verdict.cause}\`)${verdict.message ? `\n\n${verdict.message}` : ''}`,
    view.record.answer,
    remarks(view, t),
    links(view, t),
    verdict?.nextStep &&
      `**${t.nextStep}**: ${verdict.nextStep}${verdict.cause ? ` ${verdict.rerunHelps ? t.rerunHelps : t.rerunUseless}` : ''}`,
    limits(view, t),
    view.record.answer === undefined && changes(view, t),
    view.record.answer === undefined && evidence(view, t, { orNothing: false }),
    objections(view, t),
    notes(view, t),
    account(view, t),
    taskTable(view, t),
    spendingTable(view, t),
    mentions(view, t),
  ]);
}

/** One line for a run that found another one at work. */
export function renderPointer(runKey: string, language: 'zh-CN' | 'en'): string {
  return `${writeMarker({ runKey, state: 'pointer' })}\n${textsFor(language).pointer}`;
}

function assemble(
  view: RunView,
  footer: Footer,
  t: Texts,
  parts: readonly (string | false | null | undefined)[],
): string {
  const { marker, version } = footer;
  const state =
    marker.state === 'live' && marker.liveUntil
      ? `live until ${new Date(marker.liveUntil).toISOString()}`
      : marker.state;
  const build = view.buildUrl ? ` · [${t.links.build}](${view.buildUrl})` : '';
  const small = `<sub>${spendingLine(view, t)}${build}<br>npc-crew ${version} · run ${view.runKey} · ${state} · sandbox: none</sub>`;
  const body = parts.filter((part) => typeof part === 'string' && part !== '').join('\n\n');
  return `${writeMarker(marker)}\n${fitComment(body, t.cut, 58_000)}\n\n${small}`;
}

function headline(view: RunView, t: Texts): string {
  const verdict = view.record.verdict;
  const { answer, answerKind } = view.record;
  if (verdict?.verdict === 'green') {
    if (answer === undefined) return t.green;
    return answerKind === 'review' ? t.reviewed : t.answered;
  }
  if (verdict?.verdict === 'partial') return t.partial;
  if (verdict?.cause === 'cancelled' || verdict?.cause === 'interrupted') return t.stopped;
  return t.red;
}

function links(view: RunView, t: Texts): string {
  const { delivered } = view.record;
  const lines = [
    delivered.pullUrl && `- ${t.links.pull}: [#${delivered.pullNumber}](${delivered.pullUrl})`,
    delivered.branch &&
      `- ${t.links.branch}: ${link(delivered.branch, delivered.branchUrl)}${delivered.sha ? ` @ \`${delivered.sha.slice(0, 8)}\`` : ''}`,
    delivered.wip && `- ${t.links.wip}: \`${delivered.wip}\``,
    view.logUrl && `- ${t.links.log}: [run.jsonl.gz](${view.logUrl})`,
  ];
  return lines.filter(Boolean).join('\n');
}

/** How many remarks stand at their lines in the pull request. */
function remarks(view: RunView, t: Texts): string {
  const posted = doneEffect<number>(view.record, 'review');
  return posted === undefined ? '' : t.remarksPosted(posted);
}

function link(branch: string, url: string | undefined): string {
  return url ? `[\`${branch}\`](${url})` : `\`${branch}\``;
}

function limits(view: RunView, t: Texts): string {
  const lines = [
    ...view.record.limits.map(({ message, cure }) => {
      // What the next step says already is not said twice.
      const said = cure === view.record.verdict?.nextStep ? '' : cure;
      return `- ${`${message} ${said}`.trim().replaceAll('\n', '\n  ')}`;
    }),
    ...view.record.damaged.map((damaged) => `- ${t.damaged(damaged.setAside)}`),
  ];
  return lines.length === 0 ? '' : `**${t.limits}**\n${lines.join('\n')}`;
}

function changes(view: RunView, t: Texts): string {
  const files = changedFiles(view.record);
  const leftOut = [...new Set(view.record.commits.flatMap((commit) => commit.leftOut))];
  const changed =
    files.length === 0 ? t.nothingChanged : `**${t.changed}**\n${list(files.map((file) => `\`${file}\``))}`;
  return leftOut.length === 0 ? changed : `${changed}\n\n**${t.leftOut}**\n${list(leftOut)}`;
}

function list(items: readonly string[], most = 40): string {
  const shown = items.slice(0, most).map((item) => `- ${item}`);
  return items.length > most ? [...shown, `- … +${items.length - most}`].join('\n') : shown.join('\n');
}

function evidence(view: RunView, t: Texts, options: { orNothing: boolean }): string {
  const gates = lastGates(view.record.gates);
  if (gates.length === 0) return options.orNothing ? '' : `**${t.evidence}**\n${t.noEvidence}`;
  const rows = gates.map(
    (gate) =>
      `| \`${cell(gate.command)}\`${guessed(gate, view, t)} | ${gateResult(gate, t)} | \`${gate.sha.slice(0, 8)}\` | ${(gate.ms / 1000).toFixed(1)} s |`,
  );
  const failed = gates.filter((gate) => gate.exit !== 0 && !gate.missing);
  const tails = failed.map(
    (gate) => `<details><summary>${cell(gate.command)}</summary>\n\n${fenced(gate.tail)}\n\n</details>`,
  );
  return [`**${t.evidence}**\n\n${t.evidenceHead}\n${rows.join('\n')}`, ...tails].join('\n\n');
}

/** Marks a command that nobody configured. */
function guessed(gate: GateRun, view: RunView, t: Texts): string {
  return view.record.commands.some(({ command, guessed: is }) => is && command === gate.command) ? t.guessed : '';
}

function gateResult(gate: GateRun, t: Texts): string {
  if (gate.missing) return t.missing(gate.missing);
  if (gate.exit === null) return `❌ ${t.noExit}`;
  return `${gate.exit === 0 ? '✅' : '❌'} ${t.exit} ${gate.exit}`;
}

/** The gates of the newest commit that was judged. */
export function lastGates(gates: readonly GateRun[]): GateRun[] {
  const sha = gates.at(-1)?.sha;
  return gates.filter((gate) => gate.sha === sha);
}

function objections(view: RunView, t: Texts): string {
  const issues = [...view.record.returns.values()].flatMap((entry) => entry.issues);
  const inline = view.record.inline.map((remark) => `- \`${remark.path}:${remark.line}\` ${remark.body}`);
  const lines = [...issues.map(issueLine), ...inline];
  return lines.length === 0
    ? ''
    : `<details><summary>${t.objections} (${lines.length})</summary>\n\n${lines.join('\n')}\n\n</details>`;
}

function issueLine(issue: Issue): string {
  const place = issue.path ? `\`${issue.path}${issue.line ? `:${issue.line}` : ''}\` ` : '';
  return `- ${place}${issue.message.replaceAll('\n', '\n  ')}`;
}

function notes(view: RunView, t: Texts): string {
  const lines = view.record.notes.map(
    (note) => `- ${note.body.replaceAll('\n', '\n  ')} (${note.by}, ${t.notChecked})`,
  );
  return lines.length === 0 ? '' : `**${t.notes}**\n${lines.join('\n')}`;
}

function account(view: RunView, t: Texts): string {
  const last = [...view.record.results].filter(([taskId, result]) => result.summary && isWriter(view, taskId)).at(-1);
  if (!last || view.record.answer !== undefined) return '';
  const quoted = last[1].summary.split('\n').map((line) => `> ${line}`);
  return `<details><summary>${t.account}</summary>\n\n${quoted.join('\n')}\n\n</details>`;
}

function isWriter(view: RunView, taskId: string): boolean {
  return view.record.flow?.some((node) => node.id === nodeOf(taskId) && node.target_agent.startsWith('coder')) ?? false;
}

function planList({ record }: RunView, t: Texts): string {
  if (!record.plan) return '';
  const marks = { open: '[ ]', doing: '[ ] ▶', done: '[x]', dropped: '[x] –' };
  const items = record.plan.items.map(({ text, state }) => `- ${marks[state]} ${cell(text)}`);
  return `**${t.plan}** (${record.plan.by})\n${items.join('\n')}`;
}

function taskTable(view: RunView, t: Texts): string {
  if (view.tasks.length === 0) return '';
  const rows = view.tasks.map((task) => {
    const name = task.task_id.slice(view.runKey.length + 1) || task.task_id;
    return `| ${cell(name)} | ${task.agent ?? '–'} | ${t.states[task.sub_state]} | ${task.attempt} |`;
  });
  return `<details><summary>${t.tasks} (${view.tasks.length})</summary>\n\n${t.tasksHead}\n${rows.join('\n')}\n\n</details>`;
}

function mentions(view: RunView, t: Texts): string {
  if (view.record.mentions.length === 0) return '';
  return `**${t.mentions}**\n${view.record.mentions.map((mention) => `- ${mention.author}: ${cell(mention.body)}`).join('\n')}`;
}
