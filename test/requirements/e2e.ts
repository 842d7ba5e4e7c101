/** What a user meets on the whole way, by the ids that the tests cite. */
export const e2e = {
  'R-E2E-1':
    'A mention becomes a tested branch, an open pull request and one comment; the tests ran at the pushed commit.',
  'R-E2E-2': 'What a reviewer objects to goes back to the coder word for word, and the new work is judged afresh.',
  'R-E2E-40':
    'A coder killed in the middle of its task: the run ends well, with two attempts and at most one request more.',
  'R-E2E-41':
    'A run killed in the middle is started again by its parent and ends well, with one comment and one pull request; nothing is paid twice and no old process writes on.',
  'R-E2E-42': 'SIGTERM and SIGINT end a run with a final comment within 5 s, their own exit code, and no process left.',
  'R-E2E-43':
    'One mention delivered ten times at once is one run with one comment; without a lock the others leave one-line pointers at most.',
  'R-E2E-44':
    'While a run works, "@Agent stop" ends it with exit 0, and other mentions are listed with the words that steering is not supported yet.',
} as const;
