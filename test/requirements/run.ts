/** What the coordinator promises, by the ids that the tests cite. */
export const run = {
  'R-RUN-1':
    'A flow is data: it is checked for ids, links, roles and cycles before it runs, and each fault is told in one line.',
  'R-RUN-2':
    'Between roles only what the next one needs is handed on: artifacts and code whole, the rest as a short summary.',
  'R-RUN-3':
    'A text that is no end (an error message of the model service, a promise to finish later) is never taken for one.',
  'R-RUN-4': 'The judge can only lower a result; without valid citations its "complete" is a no.',
  'R-RUN-5':
    'The hidden marker is data: it is read back by its form, and a verdict, a key or a time that does not fit is ignored.',
  'R-RUN-6': 'A comment stays under its limit and is never cut inside a code fence.',
  'R-RUN-7':
    'Each cause has its verdict and exit code; a run that was not finished never exits 0, but for one that the thread stopped.',
  'R-RUN-8':
    'A request that is nothing but a stop or a continue is a command to the run; any other text asks for work.',
  'R-RUN-9': 'The state is the fold of the log, and run events count from the coordinator and the gateway only.',
  'R-RUN-10':
    'The gates decide: failed ones send the work back, missing programs and missing test commands leave it partial.',
  'R-RUN-11': 'An effect outside is done once: after a restart it is looked for before it is done again.',
  'R-RUN-12': 'One run stands for a trigger: who posted first goes on, the others turn into a pointer.',
  'R-RUN-13':
    'The comment says what was done, with what evidence, and what the user does next, in the language of the request.',
  'R-RUN-14': 'A task goes out once and its end is found, whichever process of the run waits for it.',
  'R-RUN-15': "Only who the repository's file allows may start a run; a limit that cannot be checked lets nobody in.",
  'R-RUN-16': 'Existing tests may change only where the request asks for it; in doubt it does not.',
} as const;
