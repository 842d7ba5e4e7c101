import type { Fault, Step } from './script.ts';

/** A fault that is switched on from outside; without `role` or `step` it meets every request. */
export interface FaultSwitch {
  readonly role?: string | undefined;
  readonly step?: number | undefined;
  readonly fault: Fault;
}

/** Decides which fault a request meets, and counts how often each was played. Switches come before the script's own. */
export class FaultPlan {
  #switches: { readonly at: FaultSwitch; played: number }[] = [];
  readonly #played = new Map<string, number>();

  /** Replaces the switches. */
  set(switches: readonly FaultSwitch[]): void {
    this.#switches = switches.map((at) => ({ at, played: 0 }));
  }

  next(role: string, index: number, step: Step | undefined): Fault | undefined {
    for (const entry of this.#switches) {
      const { at } = entry;
      if ((at.role ?? role) !== role || (at.step ?? index) !== index || isOver(at.fault, entry.played)) continue;
      entry.played += 1;
      return at.fault;
    }
    const key = `${role}/${index}`;
    const played = this.#played.get(key) ?? 0;
    if (!step?.fault || isOver(step.fault, played)) return undefined;
    this.#played.set(key, played + 1);
    return step.fault;
  }
}

function isOver(fault: Fault, played: number): boolean {
  return fault.times !== 'always' && played >= fault.times;
}
