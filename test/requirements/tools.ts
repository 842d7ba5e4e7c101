/** What `tools/` must do. */
export const tool = {
  'R-TOOL-1': 'bash ends at process exit, not at the end of inherited pipes, and names what is left running',
  'R-TOOL-2': 'bash decodes each stream by itself; no character is split, GBK is read',
  'R-TOOL-3': 'bash has no stdin and no terminal; nothing waits for an answer',
  'R-TOOL-4': 'at the limit and on cancel the whole process tree is ended',
  'R-TOOL-5': 'the exit code is in the outcome and the text; control characters are not',
  'R-TOOL-6': 'long output is cut with head and tail and kept in a file that read can page through',
  'R-TOOL-7': 'a command runs in the work tree with the given environment only',
  'R-TOOL-8': 'a call shows that it is alive while output grows',
} as const;
