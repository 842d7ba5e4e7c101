import type { Issue, TaskResultPayload } from '../../protocol/index.ts';
import { mendResult } from '../../tools/lib/mend-result.ts';

/** What is left of a program when it has ended. */
export interface ProgramEnd {
  readonly role: string;
  /** Exit code, or the name of the signal that ended it. */
  readonly exit: number | string;
  /** Content of the result file; undefined when it asked for none or wrote none. */
  readonly file?: string | undefined;
  readonly stdout: string;
  /** The end of everything it printed. */
  readonly tail: string;
}

/** Roles whose silence must not be taken for consent. */
const JUDGES = ['architect', 'reviewer', 'verifier'];
const MAX_TEXT = 60_000;

/** Makes a result of the program's end: the contract where it was kept, else its words; an exit that is not 0 has failed. */
export function readResult(end: ProgramEnd): TaskResultPayload {
  const said = end.file?.trim() ? end.file : end.stdout;
  const result = contractIn(said) ?? plain(said, end.role);
  if (end.exit === 0) return result;
  return { ...result, status: 'failed', issues: [...result.issues, exitIssue(end)] };
}

/** The contract: the whole text, the last fenced block, or the last line that is one. */
function contractIn(text: string): TaskResultPayload | undefined {
  const fences = [...text.matchAll(/^```(?:json)?\s*\n(.*?)\n```/gms)].map(([, body]) => body ?? '');
  const lines = text.trimEnd().split('\n').slice(-50);
  for (const candidate of [text, ...fences.reverse(), ...lines.reverse()]) {
    const value = objectIn(candidate);
    // Any program may print JSON; only one with a status means a result.
    if (value === undefined || !('status' in value)) continue;
    const { result, wrong } = mendResult(value);
    if (result) return result;
    return failed('The result does not keep to the contract.', { severity: 'blocking', message: wrong.join('; ') });
  }
  return undefined;
}

function plain(text: string, role: string): TaskResultPayload {
  const words = text.trim();
  if (words !== '') {
    const whole = { kind: 'report' as const, title: 'what the program said', text: words.slice(-MAX_TEXT) };
    return words.length <= 2000
      ? { status: 'success', summary: words, artifacts: [], issues: [] }
      : { status: 'success', summary: `${words.slice(0, 1990)} …`, artifacts: [whole], issues: [] };
  }
  if (JUDGES.includes(role)) {
    return failed('The program gave no result.', {
      severity: 'blocking',
      message: `It ended without a word; a ${role} has to say what it found.`,
    });
  }
  return { status: 'success', summary: '(the program said nothing)', artifacts: [], issues: [] };
}

function exitIssue({ exit, tail }: ProgramEnd): Issue {
  const what = typeof exit === 'number' ? `exit code ${exit}` : exit;
  const hint = exit === 127 ? '; is the program installed, and on PATH?' : '';
  const evidence = tail.trim().slice(-4000);
  return { severity: 'blocking', message: `The program ended with ${what}${hint}`, ...(evidence && { evidence }) };
}

function failed(summary: string, issue: Issue): TaskResultPayload {
  return { status: 'failed', summary, artifacts: [], issues: [{ ...issue, message: issue.message.slice(0, 4000) }] };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Then it is text.
    return undefined;
  }
}
