/** Characters of a reason that the hub keeps in a row and tells; a frame may bring half a megabyte of them. */
const LONGEST = 2000;

/** A reason as the hub tells it, without what is too long. */
export function shortReason(reason: string): string {
  return reason.length <= LONGEST ? reason : reason.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '');
}
