import { expect, test } from 'vitest';
import { hostileTexts } from '../../test/helpers/hostile-text.ts';
import { cpuOf } from '../../test/helpers/rescued.ts';

for (const [kind, text] of Object.entries(hostileTexts(1_000_000))) {
  test(`R-LLM-62: 1 MB of ${kind} in one-character deltas takes less than 2 s`, () => {
    for (const channel of ['text', 'thinking'] as const) {
      expect([channel, cpuOf(text.split(''), channel) < 2000]).toEqual([channel, true]);
      expect([channel, cpuOf([text], channel) < 1000]).toEqual([channel, true]);
    }
  });
}
