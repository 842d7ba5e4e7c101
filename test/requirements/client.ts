/** What the one client of the hub promises. */
export const client = {
  'R-CLIENT-1': 'send resolves once the hub has the frame for good, by the cumulative count of accepted',
  'R-CLIENT-2': 'a refused frame rejects its own promise with the code, and no other',
  'R-CLIENT-3': 'unaccepted frames survive a lost connection, in order and with the same id',
  'R-CLIENT-4': 'a client that the hub does not want back stays away and says why',
  'R-CLIENT-5': 'the first connection is tried for a limited time',
  'R-CLIENT-6': 'a frame is handled once and acknowledged after its handler has settled',
  'R-CLIENT-7': 'gaps in the mailbox are told',
  'R-CLIENT-8': 'a dead hub is noticed without its closing anything',
  'R-CLIENT-9': 'questions find their answers by ref, survive a reconnect and can be given up',
  'R-CLIENT-10': 'a frame that is too large is refused before it leaves',
  'R-CLIENT-11': 'closing is orderly and always ends',
  'R-CLIENT-12': 'a watch survives a reconnect without repeats',
  'R-CLIENT-13': 'wrong options are told at once',
} as const;
