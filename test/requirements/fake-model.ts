/** What the model server of the tests must do. */
export const fakeModel = {
  'R-FAKE-1': 'a script is played step by step, by role and number, over real HTTP',
  'R-FAKE-2': 'what is not scripted is refused in words that name role, step and how many there are',
  'R-FAKE-3': 'faults are played as often as asked for, by step or by switch',
  'R-FAKE-4': 'every request is kept, and can be read by another process',
  'R-FAKE-5': 'a wrong script is refused with the place that is wrong',
  'R-FAKE-6':
    'a cassette is played over HTTP: by role, else by what is asked, else in order; with its failures, and at its pace on request',
} as const;
