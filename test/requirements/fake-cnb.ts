/** What the fake CNB of tests and demo must do. */
export const fakeCnb = {
  'R-PLATFORM-1': 'Requests are refused with the statuses and codes of the platform.',
  'R-PLATFORM-2': "Ids, numbers, pages and answers have the platform's form.",
  'R-PLATFORM-3': 'Every kind of mention starts a build with the documented variables and the right work tree.',
  'R-PLATFORM-4': 'What starts nothing on the platform starts nothing here; work mode follows the author.',
  'R-PLATFORM-5': 'Git runs over HTTP with tokens, scopes and protected branches.',
  'R-PLATFORM-6': 'A repository is made from a folder.',
  'R-PLATFORM-7': 'The lock runs builds of a thread one after the other; without it they start together.',
  'R-PLATFORM-8': "Stages follow a run however it ended, and the platform's clocks kill it.",
  'R-PLATFORM-9': 'A trigger can be delivered again.',
  'R-PLATFORM-10': 'Pull requests, forks, conflicts and merges behave as on the platform.',
  'R-PLATFORM-11': "The platform's own models answer with their oddities.",
  'R-PLATFORM-12': 'The server is a command too.',
} as const;
