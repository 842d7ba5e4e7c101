/** What the hidden first line of the run's comment says. All of it is data: it is read back from a thread that anybody writes in. */
export interface Marker {
  readonly runKey: string;
  /** `live` while a run works on it, `final` when its text will not change, `pointer` when another comment stands for this run. */
  readonly state: 'live' | 'final' | 'pointer';
  /** Verdict of a final one. */
  readonly verdict?: string;
  /** When a live one counts as abandoned, ms since epoch. */
  readonly liveUntil?: number;
}

const FORM =
  /<!-- npc-crew run=([0-9a-f]{16}) state=(live|final|pointer)(?: verdict=([a-z]+))?(?: until=([0-9TZ:.-]+))? -->/;

export function writeMarker(marker: Marker): string {
  const verdict = marker.verdict ? ` verdict=${marker.verdict}` : '';
  const until = marker.liveUntil === undefined ? '' : ` until=${new Date(marker.liveUntil).toISOString()}`;
  return `<!-- npc-crew run=${marker.runKey} state=${marker.state}${verdict}${until} -->`;
}

/** Reads the marker at the start of a comment; undefined when there is none. */
export function readMarker(body: string): Marker | undefined {
  const found = FORM.exec(body.slice(0, 300));
  if (!found) return undefined;
  const [, runKey, state, verdict, until] = found;
  const liveUntil = until === undefined ? Number.NaN : Date.parse(until);
  return {
    runKey: runKey ?? '',
    state: state as Marker['state'],
    ...(verdict && { verdict }),
    ...(!Number.isNaN(liveUntil) && { liveUntil }),
  };
}
