import type { Masker } from '../../base/mask.ts';

/** What stands for a secret. */
const MASK = '***';

/** Texts that follow each other with the secrets in their whole masked, also where one lies over several; undefined when there are none. */
export function maskPieces(pieces: readonly string[], masker: Masker): string[] | undefined {
  const hits = masker
    .find(pieces.join(''))
    .map(({ index, value }) => [index, index + value.length] as const)
    .sort((a, b) => a[0] - b[0]);
  if (hits.length === 0) return undefined;
  let start = 0;
  let next = 0;
  // to where the last secret goes
  let covered = 0;
  return pieces.map((piece) => {
    const end = start + piece.length;
    let [masked, done] = ['', Math.min(end, Math.max(start, covered))];
    for (let hit = hits[next]; hit && hit[0] < end; next += 1, hit = hits[next]) {
      if (hit[0] >= done) masked += piece.slice(done - start, hit[0] - start) + MASK;
      covered = Math.max(covered, hit[1]);
      done = Math.min(end, covered);
    }
    masked += piece.slice(done - start);
    start = end;
    return masked;
  });
}
