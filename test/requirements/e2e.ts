/** What a user meets on the whole way, by the ids that the tests cite. */
export const e2e = {
  'R-E2E-1':
    'A mention becomes a tested branch, an open pull request and one comment; the tests ran at the pushed commit.',
  'R-E2E-2': 'What a reviewer objects to goes back to the coder word for word, and the new work is judged afresh.',
  'R-E2E-10': 'A coder that only claims ends red, and the comment says what was not done.',
  'R-E2E-11': 'An error of the model service in place of an answer or of work ends red with the cause it names.',
  'R-E2E-12': 'A promise to report later is no end.',
  'R-E2E-13': 'What an agent leaves running is ended with its task, and makes the run red.',
  'R-E2E-14': 'What an agent forges through its shell (a result, gates, a verdict) reaches nobody.',
  'R-E2E-15': 'Only the gates at the pushed commit count, whatever the coder ran and saw before.',
  'R-E2E-16': 'A change that weakens the tests goes back, and ends red when it comes again.',
  'R-E2E-17': 'A missing toolchain ends partial, with the change pushed and the cure in the comment.',
  'R-E2E-18': 'A change that nothing checks ends partial with the line that mends it, unless it is of documents alone.',
  'R-E2E-20': 'Without work mode nothing is pushed: a change is refused with the cure, a question answered.',
  'R-E2E-21': 'A file that only a command changed is in the pull request.',
  'R-E2E-22': "Nothing but the final commit appears on a user's own branch; the unfinished work lies on another.",
  'R-E2E-23': 'A branch that moved meanwhile is left as it is, and the comment names the branch that has the work.',
  'R-E2E-25': 'What the judge finds missing twice ends red and is not delivered.',
  'R-E2E-26': "A judge's answer that cites what is not there is no proof, and nothing to send a coder back for.",
  'R-E2E-27': 'A coder may meet an objection with words alone; whoever objected judges again.',
  'R-E2E-28': 'A question that the context cannot answer ends partial, with the question in the comment.',
  'R-E2E-30': 'A review that was asked for is posted at its lines.',
  'R-E2E-31': 'In a pull request from a fork a change is refused with the cure.',
  'R-E2E-40':
    'A coder killed in the middle of its task: the run ends well, with two attempts and at most one request more.',
  'R-E2E-41':
    'A run killed in the middle is started again by its parent and ends well, with one comment and one pull request; nothing is paid twice and no old process writes on.',
  'R-E2E-42': 'SIGTERM and SIGINT end a run with a final comment within 5 s, their own exit code, and no process left.',
  'R-E2E-43':
    'One mention delivered ten times at once is one run with one comment; without a lock the others leave one-line pointers at most.',
  'R-E2E-44':
    'While a run works, "@Agent stop" ends it with exit 0, and other mentions are listed with the words that steering is not supported yet.',
  'R-E2E-45':
    'Variables that are missing, contradict each other, or are not for us, and an empty request, end with one clear line and their own exit code.',
  'R-E2E-46':
    'A flow or a configuration of the repository that cannot be followed is told in the comment, with its place, before any model is asked.',
  'R-E2E-47':
    'A model that refuses the key, or answers nothing, or settings that lead nowhere, end red with their cause and the cure in the comment.',
  'R-E2E-48': 'A damaged message log is set aside; the run goes on from the thread and says so.',
  'R-E2E-49':
    'Agents that joined a hub by hand, in JavaScript, in Python and as another program, get tasks of a run on that hub, and their results are used.',
  'R-E2E-50': 'A run starts the programs that .npc/config.yml names for its roles.',
  'R-E2E-51':
    'A rebuild of a run that ended red or partial takes the same comment over and does the work; of a green one it does nothing.',
  'R-E2E-52':
    'A budget tells, then holds, then ends the work: near its end only handing in is left, at its end the run is partial, with the work kept.',
  'R-E2E-60':
    'A recorded run is replayed with no model and no key: the same verdict, the same branch; a request that differs is told.',
  'R-E2E-70': 'A run on CNB without a key uses the platform’s models, and says what they took.',
  'R-E2E-71': 'A key of the run that stands in the request or the repository reaches no model.',
} as const;
