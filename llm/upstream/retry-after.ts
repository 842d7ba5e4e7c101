/** How long an answer asks to wait, in ms, from the headers providers use; undefined when it says nothing usable. */
export function waitFrom(headers: Headers, now: number): number | undefined {
  const after = headers.get('retry-after');
  const seconds = toNumber(after);
  return (
    sane(toNumber(headers.get('retry-after-ms'))) ??
    sane(seconds === undefined ? momentIn(after) - now : seconds * 1000) ??
    resetIn(headers, now)
  );
}

/** The longest wait until a limit is lifted; of several limits, only those that are used up, where that is told. */
function resetIn(headers: Headers, now: number): number | undefined {
  const prefix = 'x-ratelimit-reset';
  const resets = [...headers].flatMap(([name, value]) => {
    if (!name.startsWith(prefix)) return [];
    const wait = sane(resetWait(value, now));
    const left = headers.get(`x-ratelimit-remaining${name.slice(prefix.length)}`);
    return wait === undefined ? [] : [{ wait, usedUp: left !== null && Number(left) <= 0 }];
  });
  const usedUp = resets.filter((reset) => reset.usedUp);
  const waits = (usedUp.length > 0 ? usedUp : resets).map(({ wait }) => wait);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** `1s`, `6m0s`, `250ms`, a number of seconds, or a moment: epoch seconds or milliseconds, told apart by size, or a date. NaN for else. */
export function resetWait(value: string | null, now: number): number {
  const number = toNumber(value);
  if (number !== undefined) {
    if (number > 1e11) return number - now;
    return number > 1e8 ? number * 1000 - now : number * 1000;
  }
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const text = value?.trim() ?? '';
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return momentIn(text) - now;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0),
    0,
  );
}

/** A date in any form of HTTP, or of ISO 8601, as ms since epoch. NaN for all else, such as a bare year, which `Date` would take. */
function momentIn(text: string | null): number {
  if (text === null || !/\d:\d\d/.test(text)) return Number.NaN;
  // the oldest form names no zone, and means this one
  return Date.parse(/GMT|UTC|Z$|[+-]\d\d:?\d\d$/i.test(text.trim()) ? text : `${text} GMT`);
}

function toNumber(value: string | null): number | undefined {
  return value !== null && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

/** Nothing negative, nothing above a day. */
function sane(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 0 && ms <= 86_400_000 ? ms : undefined;
}
