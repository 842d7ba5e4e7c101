import { expect, test } from 'vitest';
import { parseSince } from './since.ts';

const now = new Date(2026, 10, 30, 19, 30, 0).getTime();

test.each([
  ['90s', 90_000],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['2D', 172_800_000],
  ['500ms', 500],
  ['0s', 0],
])('R-CLI-19: %s is that long ago', (text, ago) => {
  expect(parseSince(text, now)).toBe(now - ago);
});

test.each([
  ['19:00', new Date(2026, 10, 30, 19, 0)],
  ['19:45', new Date(2026, 10, 29, 19, 45)],
  ['7:05:30', new Date(2026, 10, 30, 7, 5, 30)],
  ['2026-11-30', new Date(2026, 10, 30)],
  ['2026-11-30 19:00', new Date(2026, 10, 30, 19)],
  ['2026-11-30T19:00:05.25', new Date(2026, 10, 30, 19, 0, 5, 250)],
  ['2026-11-30T19:00:00Z', new Date(Date.UTC(2026, 10, 30, 19))],
  ['2026-11-30 19:00 +08:00', new Date(Date.UTC(2026, 10, 30, 11))],
  ['2026-11-30T19:00-0530', new Date(Date.UTC(2026, 11, 1, 0, 30))],
])('R-CLI-19: %s is a time', (text, time) => {
  expect(new Date(parseSince(text, now))).toEqual(time);
});

test.each(['', 'yesterday-ish', '10', '10 minutes', '25:00', '2026-02-30', '2026-13-01', '2026-11-30 24:30', '-5m'])(
  'R-CLI-19: "%s" is no time: wrong usage, with examples',
  (text) => {
    expect(() => parseSince(text, now)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(/10m.*2026/) }),
    );
  },
);
