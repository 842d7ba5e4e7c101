import { estimateTokens } from '../base/estimate-tokens.ts';
import type { Turn, Usage } from '../protocol/index.ts';
import type { HookRunner } from './hook-runner.ts';

/** Above this share of the window old tool output goes, until the lower share is reached. */
const PRUNE_FROM = 0.75;
const PRUNE_TO = 0.5;
/** The last replies keep what their calls returned. */
const KEPT_ROUNDS = 3;

interface ContextWindowOptions {
  /** What the model's context holds, tokens. */
  readonly size: number;
  /** What is sent besides the turns. */
  readonly overhead: string;
  readonly hooks: HookRunner;
}

/** Keeps account of how full a model's context is, and makes room in it. */
export function createContextWindow({ size, overhead, hooks }: ContextWindowOptions) {
  /** What the provider counted last; only the turns behind it are estimated. */
  let anchor = { turns: 0, tokens: estimateTokens(overhead) };
  const tokensOf = (turns: readonly Turn[]) => anchor.tokens + estimate(turns.slice(anchor.turns));

  /** Replaces old tool output by a note, oldest first; calls and results stay paired. */
  function prune(turns: readonly Turn[]): readonly Turn[] {
    const replies = turns.flatMap((turn, index) => (turn.role === 'assistant' ? [index] : []));
    const kept = replies.at(-KEPT_ROUNDS) ?? 0;
    let excess = tokensOf(turns) - size * PRUNE_TO;
    return turns.map((turn, index) => {
      if (turn.role !== 'tool' || index >= kept || excess <= 0) return turn;
      const content = `[The result of this call of ${turn.name} was left out to make room. Call again if you need it.]`;
      const saved = estimateTokens(turn.content) - estimateTokens(content);
      if (saved <= 0) return turn;
      excess -= saved;
      if (index < anchor.turns) anchor = { ...anchor, tokens: anchor.tokens - saved };
      return { ...turn, content };
    });
  }

  return {
    /** Notes the provider's count for a conversation that ends in its reply. */
    counted(turns: readonly Turn[], usage: Usage | null): void {
      if (usage?.input == null) return;
      anchor = { turns: turns.length, tokens: usage.input + (usage.output ?? estimate(turns.slice(-1))) };
    },

    /** The conversation, with old tool output left out if the window gets crowded and no hook refuses. */
    async makeRoom(turns: readonly Turn[]): Promise<readonly Turn[]> {
      if (tokensOf(turns) <= size * PRUNE_FROM) return turns;
      if ((await hooks.ask('compact.before', { turns })).refusal !== undefined) return turns;
      return (await hooks.ask('compact.after', { turns: prune(turns) })).seen.turns;
    },

    isFull: (turns: readonly Turn[]) => tokensOf(turns) > size,
  };
}

function estimate(turns: readonly Turn[]): number {
  const textOf = (turn: Turn) => turn.content + (turn.role === 'assistant' ? JSON.stringify(turn.calls) : '');
  return turns.reduce((total, turn) => total + estimateTokens(textOf(turn)) + 4, 0);
}
