import { AppError } from '../../base/errors.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * A point in time, ms since epoch, as people write it: how long ago (`90s`, `10m`, `1h30m`, `2d`), a time of the last 24 hours
 * (`19:00`), a day or a time of a day on this machine's clock (`2026-11-30`, `2026-11-30 19:00`), or ISO 8601 with its zone.
 * Throws `AppError('usage')` with examples.
 */
export function parseSince(text: string, now: number): number {
  const found = ago(text.trim(), now) ?? timeOfDay(text.trim(), now) ?? date(text.trim());
  if (found !== undefined) return found;
  const examples = '10m, 2h, 1h30m, 19:00, 2026-11-30, "2026-11-30 19:00", 2026-11-30T19:00:00Z';
  throw new AppError('usage', `a time is written like one of these: ${examples}`);
}

function ago(text: string, now: number): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/i.test(text)) return undefined;
  const parts = text.toLowerCase().matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g);
  const span = [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * (units[unit ?? ''] ?? 0), 0);
  return Math.max(0, Math.round(now - span));
}

function timeOfDay(text: string, now: number): number | undefined {
  const [, hour, minute, second = '0'] = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text) ?? [];
  if (hour === undefined || +hour > 23 || Number(minute) > 59 || +second > 59) return undefined;
  const at = new Date(now);
  at.setHours(+hour, Number(minute), +second, 0);
  if (at.getTime() > now) at.setDate(at.getDate() - 1);
  return at.getTime();
}

function date(text: string): number | undefined {
  const form =
    /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?( ?Z| ?[+-]\d{2}:?\d{2})?)?$/i;
  const match = form.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const ms = Number((match[7] ?? '0').padEnd(3, '0'));
  const utc = new Date(Date.UTC(year, month - 1, day, hour, minute, second, ms));
  // 30 February would become 2 March
  const isReal = utc.getUTCMonth() === month - 1 && utc.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!isReal) return undefined;
  const zone = match[8]?.trim().toUpperCase();
  if (zone === undefined) return new Date(year, month - 1, day, hour, minute, second, ms).getTime();
  return utc.getTime() - offset(zone);
}

function offset(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return sign === '-' ? -ms : ms;
}
