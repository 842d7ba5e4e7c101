import { Rescue } from '../../llm/rescue/rescue.ts';
import type { RescueCase } from './corpus-file.ts';
import { norm } from './norm.ts';
import { typesOf } from './types-of.ts';

/** What came of a case, in the form of its expectation. */
export function runRescue(one: RescueCase, chunks: readonly string[], reasoningChunks: readonly string[]) {
  const rescue = new Rescue({ offered: new Set(one.tools), types: typesOf(one.schemas) });
  let [content, reasoning] = ['', ''];
  const show = ({ text, thinking }: { text: string; thinking: string }) => {
    content += text;
    reasoning += thinking;
  };
  for (const chunk of reasoningChunks) show(rescue.thinking(chunk));
  for (const chunk of chunks) show(rescue.text(chunk));
  const end = rescue.finish([]);
  show(end);
  return {
    content: norm(content),
    calls: end.calls.map(({ name, input }) => ({ name, arguments: input })),
    dropped: end.dropped.length > 0,
    ...(one.expect.reasoning === undefined ? {} : { reasoning: norm(reasoning) }),
  };
}

/** A case's expectation in the same form. */
export function expectedOfRescue({ expect }: RescueCase) {
  const { content, reasoning } = expect;
  return { ...expect, content: norm(content), ...(reasoning === undefined ? {} : { reasoning: norm(reasoning) }) };
}

/** The ways in which a case's text is cut: as given, whole, one character at a time. */
export function cutsOf(one: RescueCase): [how: string, chunks: string[], reasoning: string[]][] {
  const [content, reasoning] = [one.chunks.join(''), one.reasoning_chunks.join('')];
  return [
    ['cut as given', one.chunks, one.reasoning_chunks],
    ['whole', [content], [reasoning]],
    ['one character at a time', [...content], [...reasoning]],
  ];
}
