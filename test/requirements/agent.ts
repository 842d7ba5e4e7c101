/** What an agent makes of a task it is handed. */
export const agent = {
  'R-AGENT-1': 'A task is worked on in its tree with the tools of the role, and answered with what was submitted.',
  'R-AGENT-2': 'Thinking is logged line by line before the reply it belongs to.',
  'R-AGENT-3': 'Questions, comments and the plan reach the owner of the task.',
  'R-AGENT-4': 'A loop that stops without a result fails the task with a blocking issue that says why.',
  'R-AGENT-5': 'The text of a role that was asked a question is its answer.',
  'R-AGENT-6': 'What a task leaves running is refused twice, then ended, and blocks the result.',
  'R-AGENT-7': 'Another attempt goes on from the transcript; nothing recorded is asked for again.',
  'R-AGENT-8': 'A stopped agent ends what runs and gives its task back.',
  'R-AGENT-9': 'Destructive commands are refused, and secrets masked.',
  'R-AGENT-10': 'An agent whose parent is gone and whose hub is silent ends itself.',
} as const;
