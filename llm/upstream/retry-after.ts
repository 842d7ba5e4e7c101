/** How long an answer asks to wait, in ms, from the headers providers use; undefined when it says nothing usable. */
export function waitFrom(headers: Headers, now: number): number | undefined {
  const milliseconds = toNumber(headers.get('retry-after-ms'));
  if (milliseconds !== undefined) return sane(milliseconds);
  const after = headers.get('retry-after');
  if (after !== null) {
    const seconds = toNumber(after);
    return sane(seconds === undefined ? Date.parse(after) - now : seconds * 1000);
  }
  const resets = ['x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']
    .map((name) => sane(resetWait(headers.get(name), now)))
    .filter((wait) => wait !== undefined);
  return resets.length === 0 ? undefined : Math.max(...resets);
}

/** `1s`, `6m0s`, `250ms`, a number of seconds, or a moment in epoch seconds or milliseconds: told apart by size. */
function resetWait(value: string | null, now: number): number {
  if (value === null) return Number.NaN;
  const number = toNumber(value);
  if (number !== undefined) {
    if (number > 1e11) return number - now;
    return number > 1e8 ? number * 1000 - now : number * 1000;
  }
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(value)) return Number.NaN;
  return [...value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? ''] ?? 0),
    0,
  );
}

function toNumber(value: string | null): number | undefined {
  return value !== null && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

/** Nothing negative, nothing above a day. */
function sane(ms: number): number | undefined {
  return ms >= 0 && ms <= 86_400_000 ? ms : undefined;
}
