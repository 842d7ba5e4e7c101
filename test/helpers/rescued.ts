import { Rescue, type RescueOptions } from '../../llm/rescue/rescue.ts';
import { norm } from '../corpus/norm.ts';

/** What is given to a rescue, beside content. */
export interface RescueInput {
  readonly thinking?: string;
  readonly offered?: readonly string[];
  readonly types?: RescueOptions['types'];
  readonly structured?: readonly { name: string; input: Record<string, unknown> }[];
}

export const offered = ['read_file', 'write_file', 'run_command', 'list_dir'];

/** What came of a message, as `[content, calls as [name, input], whether something was dropped, thinking]`. */
export function rescued(content: string, input: RescueInput = {}): [string, [string, unknown][], boolean, string] {
  const whole = rescueIn([content], input);
  return [
    norm(whole.text),
    whole.calls.map((call) => [call.name, call.input]),
    whole.dropped.length > 0,
    norm(whole.thinking),
  ];
}

/** The same with the whole of what came, for content in pieces. */
export function rescueIn(pieces: readonly string[], input: RescueInput = {}, thinkingPieces = [input.thinking ?? '']) {
  const rescue = new Rescue({ offered: new Set(input.offered ?? offered), ...(input.types && { types: input.types }) });
  const shown = [
    ...thinkingPieces.filter((piece) => piece !== '').map((piece) => rescue.thinking(piece)),
    ...pieces.map((piece) => rescue.text(piece)),
  ];
  const { calls, dropped, ...rest } = rescue.finish(input.structured ?? []);
  const all = [...shown, rest];
  return {
    calls,
    dropped,
    text: all.map(({ text }) => text).join(''),
    thinking: all.map(({ thinking }) => thinking).join(''),
  };
}

/** Processor time that a message in pieces takes, ms. */
export function cpuOf(pieces: readonly string[], channel: 'text' | 'thinking'): number {
  const rescue = new Rescue({ offered: new Set(offered) });
  const began = process.cpuUsage();
  for (const piece of pieces) rescue[channel](piece);
  rescue.finish([]);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}
