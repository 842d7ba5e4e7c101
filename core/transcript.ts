import type { AssistantTurn, ToolCall, Turn } from '../protocol/index.ts';

/** What the model reads in place of a result that was lost. */
const INTERRUPTED =
  'Interrupted: this call may have run, wholly or in part, and its result is lost. Look at what is there before you repeat it.';

/** A recorded conversation made whole again. */
export interface Rebuilt {
  /** Every call has its result right behind it, except those that `repairs` answers and those that are run again. */
  readonly turns: readonly Turn[];
  /** Results to add at the end, for calls that were interrupted and may have had an effect. */
  readonly repairs: readonly Turn[];
}

/**
 * Repairs what a killed attempt recorded: each call without a result gets the "interrupted" one, results without a call are left out.
 * Calls at the very end that `mayRunAgain` names stay open, for the loop to run.
 */
export function rebuildTurns(recorded: readonly Turn[], mayRunAgain: (tool: string) => boolean = () => false): Rebuilt {
  const turns: Turn[] = [];
  let open: ToolCall[] = [];
  for (const turn of recorded) {
    if (turn.role === 'tool') {
      const call = open.find((call) => call.id === turn.call_id);
      if (call === undefined) continue;
      open = open.filter((other) => other !== call);
    } else {
      turns.push(...open.map(interrupted));
      open = turn.role === 'assistant' ? [...turn.calls] : [];
    }
    turns.push(turn);
  }
  return { turns, repairs: open.filter((call) => !mayRunAgain(call.name)).map(interrupted) };
}

function interrupted(call: ToolCall): Turn {
  return { role: 'tool', call_id: call.id, name: call.name, content: INTERRUPTED, ok: false };
}

/** The last reply, and those of its calls that have no result yet. */
export function lastReply(turns: readonly Turn[]): { reply?: AssistantTurn; open: readonly ToolCall[] } {
  const index = turns.findLastIndex((turn) => turn.role === 'assistant');
  const reply = turns[index];
  if (reply?.role !== 'assistant') return { open: [] };
  const answered = new Set(turns.slice(index).map((turn) => (turn.role === 'tool' ? turn.call_id : undefined)));
  return { reply, open: reply.calls.filter((call) => !answered.has(call.id)) };
}

/** The turns to send: an empty reply stays in the transcript, but some providers take no such message. */
export function spokenTurns(turns: readonly Turn[]): readonly Turn[] {
  return turns.filter((turn) => turn.role !== 'assistant' || turn.content.trim() !== '' || turn.calls.length > 0);
}
