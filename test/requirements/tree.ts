/** What the git side of the coordinator promises: repositories, trees, commits, secrets, evidence. */
export const tree = {
  'R-TREE-1':
    'Secrets are masked by exact value (raw, encoded, line by line, broken over lines) and by the shape of well-known keys.',
} as const;
