#!/usr/bin/env node
// Stands in for a coding program, to show how any of them plays a role:
//   npc-crew agent coder --exec "$PWD/examples/stand-in-coder.mjs {task} {result}"
// It is started in the task's work tree (of a task that names none: where the agent was started) with two files: the task, as Markdown, to read; the result, to write.
// It understands one sentence: In `FILE` replace `OLD` with `NEW`.
import { readFile, writeFile } from 'node:fs/promises';

const [taskFile, resultFile] = process.argv.slice(2);
if (!taskFile || !resultFile) {
  console.error('usage: stand-in-coder.mjs TASK.md RESULT.json');
  process.exit(2);
}

const task = await readFile(taskFile, 'utf8');
// A sentence that the task quotes once more, as an objection does, counts once.
const sentences = new Set(task.match(/in `[^`\n]+` replace `[^`\n]+` with `[^`\n]*`/gi));
const orders = [...sentences].map((sentence) => sentence.split('`'));
const done = [];
const issues = [];
for (const [, path, , before, , after] of orders) {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) issues.push({ severity: 'blocking', message: `there is no file ${path}`, path });
  else if (!text.includes(before))
    issues.push({ severity: 'blocking', message: `"${before}" is not in ${path}`, path });
  else {
    await writeFile(path, text.replaceAll(before, after));
    done.push(path);
  }
}
if (orders.length === 0) issues.push({ severity: 'blocking', message: 'The task has no sentence that I understand.' });

// The result contract of every role: docs/protocol.md, "Shapes". Without this file, stdout would be the summary.
const failed = issues.length > 0;
const summary = failed ? issues.map(({ message }) => message).join('; ') : `Replaced text in ${done.join(', ')}.`;
const artifacts = done.map((path) => ({ kind: 'file', title: path, path }));
await writeFile(resultFile, JSON.stringify({ status: failed ? 'failed' : 'success', summary, artifacts, issues }));
