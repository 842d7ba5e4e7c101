import { posix } from 'node:path';
import type { FileChange } from './file-change.ts';
import { type Said, said } from './said.ts';
import { isOtherTest, readTests } from './test-languages.ts';

/** What ends a test program early or hides how it went, or puts something else in a program's place. */
const hides =
  /\bexit\b(?!\s*\(?\s*[1-9])|\bos\._exit\b|\|\|\s*(true|:)|\btrap\b|\bset\s+\+e|\balias\b|\bexport\b|\bfunction\b|^\s*\w+\s*\(\)\s*\{|^\s*return\b|^\s*\w+=/gm;

/** What a change does to a file that `command`, one of the checks, runs; nothing when none does. New cases in a test are no finding. */
export function changedCalled({ path, before, after }: FileChange, command: string | undefined): Said[] {
  if (command === undefined || before === undefined) return [];
  const by = `\`${command.trim().slice(0, 120)}\``;
  if (after === undefined)
    return [said(`检查命令 ${by} 所运行的文件被删除`, `a file that the check ${by} runs was deleted`)];
  const [old, now] = [codeLines(before), codeLines(after)];
  if (old.join('\n') === now.join('\n')) return [];
  if (holdsTests(path, before) && !hidesMore(old, now) && !losesCases(path, before, after, old, now)) return [];
  return [said(`检查命令 ${by} 所运行的文件被修改`, `a file that the check ${by} runs was changed`)];
}

function codeLines(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  return lines.filter(
    (line, index) => line !== '' && (!/^\s*(#|\/\/)/.test(line) || (index === 0 && line.startsWith('#!'))),
  );
}

/** Whether a file that a command runs is itself a test, and not what runs the tests. */
function holdsTests(path: string, text: string): boolean {
  const name = posix.basename(path);
  if (/run|all|harness|^ci/i.test(name) && !isOtherTest(path)) return false;
  if (isOtherTest(path)) return true;
  const tests = readAsTests(path, text);
  return /test|spec|check/i.test(path) && tests !== undefined && tests.titles.length + tests.assertions > 0;
}

function hidesMore(old: readonly string[], now: readonly string[]): boolean {
  const count = (lines: readonly string[]): number => [...lines.join('\n').matchAll(hides)].length;
  return count(now) > count(old);
}

function losesCases(path: string, before: string, after: string, old: string[], now: string[]): boolean {
  const [was, is] = [readAsTests(path, before), readAsTests(path, after)];
  if (was && is) return is.assertions < was.assertions || is.titles.length < was.titles.length;
  const left = new Set(now);
  return old.some((line) => !left.has(line));
}

/** Reads a file as a test of its language, wherever it lies. */
function readAsTests(path: string, text: string): ReturnType<typeof readTests> {
  return readTests(path, text) ?? readTests(`tests/${posix.basename(path)}`, text);
}
