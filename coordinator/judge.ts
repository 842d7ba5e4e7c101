import { readFile } from 'node:fs/promises';
import type { Model } from '../core/model.ts';

/** One thing that the system saw; `id` is how the judge cites it. */
export interface Evidence {
  readonly id: string;
  readonly text: string;
}

export interface Judgement {
  readonly verdict: 'complete' | 'missing' | 'unreadable';
  /** What the judge finds missing; empty when it did not say so in the agreed form. */
  readonly missing: readonly string[];
  readonly cites: readonly string[];
  /** Those of its citations that are not there. */
  readonly invented: readonly string[];
  /** The beginning of its answer. */
  readonly said: string;
}

interface JudgeQuestion {
  readonly model: Model;
  readonly request: string;
  readonly evidence: readonly Evidence[];
  readonly claim: string;
  /** How often the judge was asked in this run before. */
  readonly turn: number;
  readonly signal: AbortSignal;
}

/** Asks the judge model. Anything but a clear "complete" with valid citations is not complete. */
export async function askJudge({ model, request, evidence, claim, turn, signal }: JudgeQuestion): Promise<Judgement> {
  const prompt = await readFile(new URL('judge.md', import.meta.url), 'utf8');
  const record = evidence.map(({ id, text }) => `${id}: ${text}`).join('\n\n');
  const reply = await model.reply(
    {
      turns: [
        { role: 'system', content: `${prompt}\n\n# Evidence (recorded by the system)\n\n${record}` },
        { role: 'user', content: `# Request\n\n${request}\n\n# The worker's claim\n\n${claim || '(none)'}` },
      ],
      tools: [],
      choice: 'review',
      turn,
    },
    signal,
  );
  return readJudgement(reply.content, evidence);
}

/** Reads the judge's line. A citation of something that is not there makes it a no. */
export function readJudgement(text: string, evidence: readonly Evidence[]): Judgement {
  const line = text.trim();
  const said = line.slice(0, 200);
  const missing = /^missing\s*[:：]\s*([\s\S]+)$/i.exec(line);
  if (missing) return { verdict: 'missing', missing: [missing[1]?.trim() ?? ''], cites: [], invented: [], said };
  // Anything but the form is no: a sentence that begins with the word may well say the opposite.
  const complete = /^complete \[\s*(E\d+(?:\s*,\s*E\d+)*)\s*\]\.?$/i.exec(line);
  const cites = [...(complete?.[1] ?? '').matchAll(/\bE\d+\b/g)].map(([id]) => id);
  const invented = cites.filter((cited) => !evidence.some(({ id }) => id === cited));
  const verdict = complete && cites.length > 0 && invented.length === 0 ? 'complete' : 'unreadable';
  return { verdict, missing: [], cites, invented, said };
}
