import { describe } from 'vitest';
import { describeCommits, describeReopening } from './commits.ts';
import type { Open } from './opened.ts';
import { describeRandomUse } from './random-use.ts';
import { describeReads } from './reads.ts';
import { describeRetention } from './retention.ts';

/**
 * What every storage must do, whatever it is made of. `open` makes an empty one; positions need to grow, not to be dense.
 * `operations` is how many random ones are compared with a model.
 */
export function describeStorage(name: string, open: Open, operations = 10_000): void {
  describe(name, () => {
    describeCommits(open);
    describeReopening(open);
    describeReads(open);
    describeRetention(open);
    describeRandomUse(open, operations);
  });
}
