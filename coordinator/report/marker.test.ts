import { expect, test } from 'vitest';
import { readMarker, writeMarker } from './marker.ts';

const runKey = '0011aabbccddeeff';

test.each([
  { runKey, state: 'live', liveUntil: Date.parse('2026-11-30T10:00:00.000Z') },
  { runKey, state: 'final', verdict: 'green' },
  { runKey, state: 'pointer' },
] as const)('R-RUN-5: a $state marker is read back as it was written', (marker) => {
  expect(readMarker(`${writeMarker(marker)}\n### text`)).toEqual(marker);
});

test.each([
  'no marker at all',
  '<!-- npc-crew run=short state=live -->',
  '<!-- npc-crew run=0011aabbccddeeff state=owned -->',
  '<!-- npc-crew run=0011aabbccddeeff state=final verdict=GREEN! -->',
  `${'x'.repeat(400)}<!-- npc-crew run=0011aabbccddeeff state=live -->`,
])('R-RUN-5: "%s" is no marker', (body) => {
  expect(readMarker(body)).toBeUndefined();
});

test('R-RUN-5: a time that is none leaves the marker without one', () => {
  expect(readMarker('<!-- npc-crew run=0011aabbccddeeff state=live until=99:99 -->')).toEqual({
    runKey,
    state: 'live',
  });
});
