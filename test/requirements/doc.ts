/** What the documents promise, by the ids that the tests cite. */
export const doc = {
  'R-DOC-1': 'ARCHITECTURE.md is true: its paths, frame types, rooms and lanes are those of the code.',
  'R-DOC-2': 'Every requirement is cited by a test, and every id that a test cites is a requirement.',
  'R-DOC-3': 'docs/model-scripts.md names every tool with its arguments and the roles that have it.',
  'R-DOC-4': 'The whole script of docs/model-scripts.md ends green when its commands are followed.',
} as const;
