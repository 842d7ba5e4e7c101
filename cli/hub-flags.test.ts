import { readFile } from 'node:fs/promises';
import { Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { defaultClocks, defaultLimits } from '../hub/options.ts';
import { clockSettings, limitSettings } from '../hub/settings.ts';
import { readAmount, showAmount } from './amount.ts';
import { addHubFlags, readHubFlags } from './hub-flags.ts';

/** What `npc-crew hub` would start a hub with; the words of the refusal where it would not. */
function read(...args: string[]): ReturnType<typeof readHubFlags> | string {
  const command = addHubFlags(new Command('hub'))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    return readHubFlags(command.parse(args, { from: 'user' }).opts());
  } catch (error) {
    return error instanceof CommanderError ? error.message : String(error);
  }
}

test('R-CLI-40: every limit and clock of the hub is a flag, with its preset in the help, and a preset that fits', () => {
  const help = addHubFlags(new Command('hub')).helpInformation().replaceAll(/\s+/g, ' ');
  for (const [key, setting] of Object.entries(limitSettings)) {
    const preset = defaultLimits[key as keyof typeof defaultLimits];
    expect(help).toContain(`--${setting.flag} <`);
    expect(preset).toBeGreaterThanOrEqual(setting.min);
    expect(preset).toBeLessThanOrEqual(setting.max);
    expect(read(`--${setting.flag}`, showAmount(preset, setting.unit))).toMatchObject({ limits: { [key]: preset } });
  }
  for (const [key, setting] of Object.entries(clockSettings)) {
    const preset = defaultClocks[key as keyof typeof defaultClocks];
    expect(read(`--${setting.flag}`, showAmount(preset, 'ms'))).toMatchObject({ clocks: { [key]: preset } });
  }
  expect(help).toContain('largest frame; a larger one is refused with too_large (default: 512k)');
});

test('R-CLI-40: sizes and times have units, 0 turns off what may be off', () => {
  expect(read('--max-bytes', '600k', '--mailbox-bytes', '1g', '--silence-timeout', '90s', '--rate', '0')).toMatchObject(
    {
      limits: { maxBytes: 614_400, mailboxBytes: 1_073_741_824, rate: 0 },
      clocks: { silence: 90_000 },
    },
  );
  expect(
    read('--attempt-timeout', '0', '--keep-age', '7d', '--keep-bytes', '500m', '--durability', 'power'),
  ).toMatchObject({
    clocks: { attempt: 0 },
    retention: { ageMs: 604_800_000, bytes: 524_288_000 },
    durability: 'power',
  });
  expect(read('--keep-age', '0', '--concurrency', '8')).toEqual({
    limits: {},
    clocks: {},
    retention: {},
    durability: 'process',
    concurrency: 8,
  });
  expect([readAmount('250ms', 'ms'), readAmount('1H', 'ms'), readAmount('2M', 'bytes')]).toEqual([
    250, 3_600_000, 2_097_152,
  ]);
  expect([
    readAmount('30', 'ms'),
    readAmount('1.5m', 'ms'),
    readAmount('-1', 'count'),
    readAmount('', 'bytes'),
  ]).toEqual([undefined, undefined, undefined, undefined]);
});

test.each([
  [['--max-bytes', '99m'], /'--max-bytes <SIZE>' argument '99m' is invalid\. it is 1k to 15m\. A size is like 512k/],
  [['--accept-timeout', '0'], /'--accept-timeout <TIME>' argument '0' is invalid\. it is 10ms to 1h\./],
  [['--silence-timeout', '30'], /'30' is invalid\. it is 10ms to 1d, or 0 = off\. A time is like/],
  [['--rate', 'fast'], /'fast' is invalid\. it is 1 to 1000000, or 0 = no limit/],
  [['--durability', 'most'], /Allowed choices are process, power/],
  [['--max-bytes', '2m'], /--max-bytes 2m is above --max-payload 1m/],
  [['--hard-buffer', '512k'], /--soft-buffer 1m is above --hard-buffer 512k/],
])('R-CLI-40: %j is refused with flag, value and range', (args, words) => {
  expect(read(...args)).toMatch(words);
});

test('R-HUB-82: the page about the protocol has every limit and clock with its preset', async () => {
  const page = await readFile(new URL('../docs/protocol.md', import.meta.url), 'utf8');
  const rows = new Map([...page.matchAll(/^\| `--([\w-]+)` *\| (\S+) /gm)].map(([, flag, preset]) => [flag, preset]));
  const expected = [
    ...Object.entries(limitSettings).map(([key, { flag, unit }]) => [
      flag,
      showAmount(defaultLimits[key as keyof typeof defaultLimits], unit),
    ]),
    ...Object.entries(clockSettings).map(([key, { flag }]) => [
      flag,
      showAmount(defaultClocks[key as keyof typeof defaultClocks], 'ms'),
    ]),
  ];
  expect([...rows]).toEqual(expected);
});
