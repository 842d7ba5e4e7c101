/** What the git side of the coordinator promises: repositories, trees, commits, secrets, evidence. */
export const tree = {
  'R-TREE-1':
    'Secrets are masked by exact value (raw, encoded, line by line, broken over lines) and by the shape of well-known keys.',
  'R-TREE-2':
    'A run works in a bare clone of its own; the checkout (shallow, detached, a worktree, of another owner) is only read.',
  'R-TREE-3':
    'A push is never forced and ends as ok, rejected, forbidden or unreachable; a branch that moved loses nothing.',
  'R-TREE-4': 'Hooks, filters and whatever a command configured do not reach our git, and nothing asks for a login.',
  'R-TREE-5': 'Each task has a work tree of its own; what a crash left of one is taken up or cleared away.',
  'R-TREE-6': 'Processes that a command left behind are found and ended, also those that left its group.',
  'R-TREE-7':
    'A commit holds everything that differs from the task’s start, however it came about, and nothing that is ignored.',
  'R-TREE-8':
    'Large files, secrets, nested repositories and unnamed control files stay out of a commit and are listed with a reason.',
  'R-TREE-9': 'Delivery is one commit for each task, linear on the base; the same input gives the same commit.',
  'R-TREE-10':
    'A diff is told as text, files and kinds; what removes or weakens tests is found in every language by rule.',
  'R-TREE-11':
    'Gates run in a clean tree at the judged commit, one after the other; what they print, start and write ends with them.',
  'R-TREE-12':
    'A missing program is recognised before and after it was needed, and told with the Dockerfile that mends it.',
  'R-TREE-13': 'Commands are detected from what the base commit holds; the guess names its sources.',
  'R-TREE-14': 'A fault in .npc/config.yml is told in one line: what, where, and how to mend it.',
  'R-TREE-15':
    'What edits the settings, scripts and hooks that the repository’s checks run by is found, unless the request names it; ordinary work is not.',
} as const;
