import type { Artifact, TaskPayload } from '../../protocol/index.ts';

/** Everything the program is told. */
export interface TaskSheet {
  readonly role: string;
  /** What the role's duty is; a built-in role's prompt, for instance. */
  readonly guide?: string | undefined;
  readonly payload: TaskPayload;
  /** Folder that the program works in, and whether the task has it to itself. */
  readonly tree: string;
  readonly isOwn: boolean;
  readonly attempt: number;
  /** Where the result goes; undefined when it is what the program prints. */
  readonly resultPath?: string | undefined;
}

/** The task as a Markdown page. */
export function writeTaskSheet(sheet: TaskSheet): string {
  const { role, payload, tree } = sheet;
  const whose = sheet.isOwn
    ? 'a git work tree that is yours alone'
    : 'where this agent was started; the task names no work tree of its own, so others may be at work here, too';
  const again =
    sheet.attempt > 1
      ? ['An earlier attempt at this task was interrupted. Look at what is already there before you go on.']
      : [];
  const parts = [
    `# Task for the role "${role}"`,
    `You work in the folder \`${tree}\`, ${whose}. Nobody answers questions.`,
    ...again,
    ...(sheet.guide ? ['## Your role', deeper(sheet.guide.trim())] : []),
    '## Goal',
    payload.goal,
    ...(payload.constraints.length > 0 ? ['## Rules', payload.constraints.map((rule) => `- ${rule}`).join('\n')] : []),
    ...(payload.artifacts.length > 0 ? ['## What is known', ...payload.artifacts.map(section)] : []),
    '## How you end',
    ending(sheet.resultPath),
  ];
  return `${parts.join('\n\n')}\n`;
}

function ending(path: string | undefined): string {
  const where = path
    ? `Write your result to the file \`${path}\` before you end, as one JSON object:`
    : 'Print your result as the last thing, as one JSON object:';
  return [
    `${where}\n`,
    '```json',
    '{"status": "success", "summary": "what was done, at most 2000 characters", "artifacts": [], "issues": []}',
    '```\n',
    '- `status`: "success" or "failed", whether you did your own job.',
    '- `artifacts`: `{"kind": "file|diff|signature|text|report|plan|command", "title", "text"?, "path"?}` each.',
    '- `issues`: `{"severity": "blocking|warning|note", "message", "path"?, "line"?, "evidence"?}` each.',
    '\nWhere your role speaks of `submit-result`, this is meant. Leave no process running.',
  ].join('\n');
}

function section(artifact: Artifact): string {
  const facts = [`kind: ${artifact.kind}`];
  if (artifact.path) facts.push(`path: \`${artifact.path}\``);
  if (artifact.ref) facts.push(`ref: \`${artifact.ref}\``);
  const text = artifact.text === undefined ? [] : [fenced(artifact.text, artifact.kind === 'diff' ? 'diff' : '')];
  return [`### ${artifact.title}`, facts.join(', '), ...text].join('\n\n');
}

/** A fence that is longer than any in the text, so that the text cannot end it. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** Headings two levels down, below those of the page. */
function deeper(markdown: string): string {
  return markdown.replace(/^#{1,4} /gm, (marks) => `##${marks}`);
}
