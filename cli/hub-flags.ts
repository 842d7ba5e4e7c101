import { type Command, Option } from 'commander';
import { AppError } from '../base/errors.ts';
import { defaultClocks, defaultLimits, type HubClocks, type HubLimits, type HubOptions } from '../hub/options.ts';
import { clockSettings, limitSettings, type Setting } from '../hub/settings.ts';
import { amount, showAmount } from './amount.ts';

const DAY = 86_400_000;

const placeholders = { count: 'N', bytes: 'SIZE', ms: 'TIME' } as const;

/** Adds what the hub keeps, promises and lets in, and a flag for each of its limits and clocks. */
export function addHubFlags(command: Command): Command {
  const age = { unit: 'ms', min: 60_000, max: 3650 * DAY, zero: 'everything' } as const;
  const size = { unit: 'bytes', min: 1024 ** 2, max: 1024 ** 4, zero: 'everything' } as const;
  command
    .optionsGroup('Work and log:')
    .option('--concurrency <N>', 'tasks at work at once (default: 2)', amount({ unit: 'count', min: 1, max: 10_000 }))
    .addOption(
      new Option('--durability <WHAT>', 'what accepted messages survive: the end of the process, or of the power')
        .choices(['process', 'power'])
        .default('process'),
    )
    .option('--keep-age <TIME>', 'how long the log is kept, as in 7d (default: 0 = for ever)', amount(age))
    .option('--keep-bytes <SIZE>', 'how large the log may get, as in 500m (default: 0 = as it comes)', amount(size))
    .optionsGroup('Limits:');
  addEach(command, limitSettings, defaultLimits);
  command.optionsGroup('Clocks:');
  addEach(command, clockSettings, defaultClocks);
  return command.optionsGroup('Other options:');
}

/** What was said with the flags, for `startHub`. Throws `AppError('usage')` where two of them do not go together. */
export function readHubFlags(
  given: Readonly<Record<string, unknown>>,
): Pick<HubOptions, 'limits' | 'clocks' | 'retention' | 'durability' | 'concurrency'> {
  const limits: Partial<HubLimits> = chosen(limitSettings, given);
  const clocks: Partial<HubClocks> = chosen(clockSettings, given);
  const { concurrency, durability, keepAge, keepBytes } = given as {
    concurrency?: number;
    durability?: 'process' | 'power';
    keepAge?: number;
    keepBytes?: number;
  };
  inOrder(limits, 'maxBytes', 'maxPayload');
  inOrder(limits, 'softBuffer', 'hardBuffer');
  return {
    limits,
    clocks,
    retention: { ...(keepAge && { ageMs: keepAge }), ...(keepBytes && { bytes: keepBytes }) },
    ...(durability !== undefined && { durability }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

function addEach<Key extends string>(
  command: Command,
  settings: Readonly<Record<Key, Setting>>,
  presets: Readonly<Record<Key, number>>,
): void {
  for (const key of Object.keys(settings) as Key[]) {
    const setting = settings[key];
    const off = setting.zero === undefined ? '' : `; 0 = ${setting.zero}`;
    const help = `${setting.help}${off} (default: ${showAmount(presets[key], setting.unit)})`;
    command.addOption(new Option(flagOf(setting), help).argParser(amount(setting)));
  }
}

function chosen<Key extends string>(
  settings: Readonly<Record<Key, Setting>>,
  given: Readonly<Record<string, unknown>>,
): Partial<Record<Key, number>> {
  const entries = Object.entries<Setting>(settings).flatMap(([key, setting]) => {
    const value = given[new Option(flagOf(setting)).attributeName()];
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(entries) as Partial<Record<Key, number>>;
}

function flagOf({ flag, unit }: Setting): string {
  return `--${flag} <${placeholders[unit]}>`;
}

/** The first must not be above the second, whether it was given or is the preset. */
function inOrder(given: Partial<HubLimits>, lower: keyof HubLimits, upper: keyof HubLimits): void {
  const limits = { ...defaultLimits, ...given };
  if (limits[lower] <= limits[upper]) return;
  const [low, high] = [lower, upper].map((key) => {
    const { flag, unit } = limitSettings[key as keyof HubLimits];
    return `--${flag} ${showAmount(limits[key as keyof HubLimits], unit)}`;
  });
  throw new AppError('usage', `${low} is above ${high}`);
}
