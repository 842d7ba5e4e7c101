/** What `cnb/` promises. */
export const cnb = {
  'R-CNB-1': 'A mention fires in a plain paragraph alone: not in a quote, list, table, code, folded details or HTML comment.',
  'R-CNB-2': 'The request is the text without our mention, long or short; others keep theirs.',
  'R-CNB-3': 'No text of ours mentions anybody, whatever it quotes.',
  'R-CNB-4': 'A request that the platform dropped for its size is marked and read again by its id.',
  'R-CNB-10': 'The run has one comment, which is edited in place.',
  'R-CNB-11': 'A list is read to its end, whatever the page size, and never for ever.',
  'R-CNB-12': 'A comment that asks something of us carries the request.',
  'R-CNB-13': 'Reads are repeated when the platform stumbles, and wait as long as it asks.',
  'R-CNB-14': 'A write is sent once; when its answer is lost it is looked for.',
  'R-CNB-15': 'An error says which request failed, how, and what helps, without the token.',
  'R-CNB-16': 'Git logs in through its environment; the token is in no address, argument or file.',
  'R-CNB-17': 'A pull request is opened once and found by its branch.',
  'R-CNB-18': 'A pull request gives its files and reviews and takes at most ten inline remarks.',
  'R-CNB-19': 'A file is attached where platform and token allow it.',
  'R-CNB-20': 'Names with slashes and odd characters reach the right address.',
} as const;
