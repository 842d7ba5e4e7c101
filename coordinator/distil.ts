import type { TaskResultPayload } from '../protocol/index.ts';

/** Characters of a summary that go on to the next role. */
const SUMMARY_LENGTH = 800;
/** Artifacts and characters of text that one result hands on. */
const MOST_ARTIFACTS = 20;
const MOST_TEXT = 32_768;

/**
 * What one role's result becomes for the next. Code blocks, signatures, interfaces, plans and diffs are kept whole as artifacts;
 * everything else shrinks to the summary. Rules only, no model.
 */
export function distil(result: TaskResultPayload): TaskResultPayload {
  const { text, blocks } = takeCodeBlocks(result.summary);
  const artifacts = [
    ...result.artifacts,
    ...blocks.map((block, index) => ({
      kind: 'text' as const,
      title: `code block ${index + 1} of the summary`,
      text: block,
    })),
  ];
  let room = MOST_TEXT;
  const kept = artifacts.slice(0, MOST_ARTIFACTS).map((artifact) => {
    if (artifact.text === undefined) return artifact;
    const cut = artifact.text.length > room ? `${artifact.text.slice(0, Math.max(room, 0))}\n[cut]` : artifact.text;
    room -= cut.length;
    return { ...artifact, text: cut };
  });
  return { ...result, summary: shorten(text), artifacts: kept };
}

function takeCodeBlocks(summary: string): { text: string; blocks: string[] } {
  const blocks: string[] = [];
  const text = summary.replaceAll(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1[^\S\n]*$/gm, (block) => {
    blocks.push(block);
    return `[code block ${blocks.length}]`;
  });
  return { text, blocks };
}

function shorten(text: string): string {
  const characters = [...text.trim()];
  if (characters.length <= SUMMARY_LENGTH) return characters.join('');
  return `${characters.slice(0, SUMMARY_LENGTH).join('')} …`;
}
