/** What a user meets on the whole way, by the ids that the tests cite. */
export const e2e = {
  'R-E2E-1':
    'A mention becomes a tested branch, an open pull request and one comment; the tests ran at the pushed commit.',
  'R-E2E-2': 'What a reviewer objects to goes back to the coder word for word, and the new work is judged afresh.',
} as const;
