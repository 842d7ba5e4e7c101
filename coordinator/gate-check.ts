import type { Cause, GateRun } from '../protocol/index.ts';
import type { Journal } from './journal.ts';
import type { Workshop } from './workshop.ts';

/** The gates of one commit; those that this process has run already are not run again. */
export async function ensureGates(
  journal: Journal,
  workshop: Workshop,
  options: { readonly sha: string; readonly added: readonly string[]; readonly signal: AbortSignal },
): Promise<readonly GateRun[]> {
  const known = gatesAt(journal, options.sha);
  const wanted = [...workshop.commands.map(({ command }) => command), ...options.added];
  const open = wanted.filter((command) => !known.some((gate) => gate.command === command));
  if (open.length > 0) {
    await workshop.runGates(
      options.sha,
      options.added,
      (gate) => journal.write({ type: 'gate.finished', gate }),
      options.signal,
    );
  }
  return gatesAt(journal, options.sha);
}

/** The last run of each command at `sha` by this process: evidence is what its own eyes saw. */
export function gatesAt(journal: Journal, sha: string): GateRun[] {
  const last = new Map<string, GateRun>();
  for (const gate of journal.record.gates.slice(journal.inheritedGates))
    if (gate.sha === sha) last.set(gate.command, gate);
  return [...last.values()];
}

export function failedGates(gates: readonly GateRun[]): GateRun[] {
  return gates.filter((gate) => gate.exit !== 0 && gate.missing === undefined);
}

/** What the gates leave open although none failed; undefined when they carry the change. */
export function openGates(
  gates: readonly GateRun[],
  documentsOnly: boolean,
): { cause: Cause; programs: string[] } | undefined {
  const programs = [...new Set(gates.flatMap((gate) => (gate.missing === undefined ? [] : [gate.missing])))];
  if (programs.length > 0) return { cause: 'toolchain_missing', programs };
  const checked = gates.some((gate) => gate.exit === 0 && gate.kind !== 'setup' && gate.kind !== 'added');
  return checked || documentsOnly ? undefined : { cause: 'unverified', programs: [] };
}

/** The gates as a role reads them. */
export function gateReport(gates: readonly GateRun[]): string {
  return gates
    .map(
      (gate) =>
        `$ ${gate.command}\n${gate.missing ? `not run: ${gate.missing} is missing` : `exit ${gate.exit}`}\n${gate.tail}`,
    )
    .join('\n\n');
}
