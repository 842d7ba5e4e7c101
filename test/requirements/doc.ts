/** What the documents promise, by the ids that the tests cite. */
export const doc = {
  'R-DOC-1': 'ARCHITECTURE.md is true: its paths, frame types, rooms and lanes are those of the code.',
  'R-DOC-2': 'Every requirement is cited by a test, and every id that a test cites is a requirement.',
} as const;
