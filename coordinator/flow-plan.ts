import { checkFlow, defaultFlow, parseFlow } from './flow.ts';
import type { Journal } from './journal.ts';

interface FlowPlanOptions {
  readonly journal: Journal;
  /** The flow given with `--flow`; wins over the repository's file. */
  readonly given: { readonly text: string; readonly where: string } | undefined;
  readonly show: (path: string) => Promise<string | undefined>;
  readonly knownRoles: readonly string[];
}

/** Decides the run's flow once: given, else `.npc/flow.json` of the base commit, else the default. Throws `misconfigured`. */
export async function planFlow({ journal, given, show, knownRoles }: FlowPlanOptions): Promise<void> {
  if (journal.record.flow) return;
  const text = given?.text ?? (await show('.npc/flow.json'));
  const where = given?.where ?? '.npc/flow.json';
  const flow = text === undefined ? defaultFlow : parseFlow(text, where);
  checkFlow(flow, knownRoles, where);
  await journal.write({ type: 'flow.planned', flow, source: text === undefined ? 'default' : 'file' });
}
