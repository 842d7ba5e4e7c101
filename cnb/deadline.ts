/**
 * When the platform ends the build, ms since epoch: its start (an HTTP date or ISO 8601) plus its limit in ms. Counts from `now` when
 * the start cannot be read, and is undefined when there is no limit.
 */
export function deadlineOf(times: {
  limit: string | undefined;
  start: string | undefined;
  now: number;
}): number | undefined {
  const limit = Number(times.limit);
  if (!times.limit || !Number.isFinite(limit) || limit <= 0) return undefined;
  const start = Date.parse(times.start ?? '');
  // A start in the future, or one whose limit has passed while we still run, is not what the platform counts from.
  const plausible = start <= times.now + 60_000 && start + limit > times.now;
  return (plausible ? start : times.now) + limit;
}
