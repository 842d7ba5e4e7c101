/** What roles are, and what `agents/external/` must do with another program. */
export const external = {
  'R-AGENT-20': 'a program plays a role: task as a Markdown file, work tree as its folder, result file',
  'R-AGENT-21': 'without a result file what is printed counts, the contract before plain words',
  'R-AGENT-22': 'the silence of a judging role is not consent',
  'R-AGENT-23': 'an exit other than 0 is a failure, with the end of the output',
  'R-AGENT-24': 'a cancelled program and everything it leaves running is ended',
  'R-AGENT-25': 'the program gets an allow-listed environment and what its attempt adds',
  'R-AGENT-26': 'a command line without {task} is refused; quotes around a placeholder work',
  'R-AGENT-27': 'start and end of the program are in the log',
  'R-AGENT-28': 'no secret that a program prints gets into log, output or result',
  'R-AGENT-30': 'a role is a prompt, tools that exist, and a policy',
  'R-AGENT-31': 'only the coder writes files; an unknown role is named',
} as const;
