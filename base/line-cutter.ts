/** Takes text as it streams in, and hands it on by lines. */
export interface LineCutter {
  push(text: string): void;
  /** Hands on what is left without an end of line. */
  end(): void;
}

/**
 * Hands each line to `say` as soon as it is whole, without the spaces at its end; empty ones are left out. A line above `longest`
 * characters comes in pieces, cut where a word or a sentence ends if there is such a place.
 */
export function cutLines(say: (line: string) => void, longest = 500): LineCutter {
  let open = '';
  const hand = (line: string) => {
    if (line.trim() !== '') say(line.trimEnd());
  };
  return {
    push(text) {
      const lines = (open + text).split(/\r\n|\r(?=.)|\n/);
      open = lines.pop() ?? '';
      lines.forEach(hand);
      while (open.length > longest) {
        const at = endOfPiece(open, longest);
        hand(open.slice(0, at));
        open = open.slice(at);
      }
    },
    end() {
      hand(open);
      open = '';
    },
  };
}

/** Where a line that is too long is cut: behind the last space or full-width mark, else before the limit, but through no character. */
function endOfPiece(line: string, longest: number): number {
  const piece = line.slice(0, longest);
  const word = /^.*[\s，。；：！？、）」』】]/s.exec(piece)?.[0].length ?? 0;
  if (word > longest / 4) return word;
  return /[\ud800-\udbff]$/.test(piece) ? longest - 1 : longest;
}
