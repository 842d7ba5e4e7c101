import { expect, test } from 'vitest';
import { activeResources, faultCases, playFault } from '../test/helpers/fault-matrix.ts';

test.each(faultCases.filter(({ sample }) => sample))(
  'R-LLM-23: $name ends as $ends after $tries tries, in time, and leaves nothing open',
  async (one) => {
    const before = activeResources();
    const { ends, ms, message, server, gateway } = await playFault(one);
    expect({ ends, tries: server.requests.length }, message).toEqual({ ends: one.ends, tries: one.tries });
    expect(ms).toBeGreaterThanOrEqual(one.least ?? 0);
    expect(ms).toBeLessThan(one.most ?? 6000);
    if (ends !== 'reply') expect(message).toMatch(/\. (Set|Run|Check|Say|Top)|, or set /);
    await gateway.close();
    await server.close();
    await expect.poll(activeResources).toBe(before);
  },
);
