import type { FileChange } from './file-change.ts';
import { type Said, said } from './said.ts';

const hook = /^([ \t]*)(?:async[ \t]+)?def[ \t]+(pytest_\w+)[ \t]*\(.*\n((?:\1[ \t)]+.*\n?|[ \t]*\n)*)/gm;
/** What a hook of pytest does when it changes which tests run or how they end. */
const alters =
  /\.outcome\s*=(?!=)|setattr\([^)]*['"](?:outcome|exitstatus|testsfailed)|['"]passed['"]|\.wasxfail\s*=|force_result|\.longrepr\s*=|TestReport\(|\bexitstatus\s*=(?!=)|testsfailed\s*=(?!=)|\b_?exit\w*\(|\bitems\s*\[[^\]]*\]\s*=(?!=)|\bitems\.(?:clear|remove|pop)\(|\bdel\s+items|deselect|\bskip|\bxfail|\breturn\s+True\b/g;

/** Code among the tests that a change lets decide how the tests end: hooks of pytest, `TestMain` of Go; one clause each. */
export function outcomeHooks({ path, before = '', after = '' }: FileChange): Said[] {
  if (/(^|\/)conftest\.py$/.test(path)) {
    const old = alteringHooks(before);
    return [...alteringHooks(after)]
      .filter(([name, code]) => old.get(name) !== code)
      .map(([name]) =>
        said(`钩子 ${name} 会改变运行哪些测试或测试的结果`, `the hook ${name} changes which tests run or how they end`),
      );
  }
  return path.endsWith('_test.go') && fixedEnd(after) && !fixedEnd(before)
    ? [said('TestMain 以固定的结果结束', 'TestMain ends with a fixed result, whatever the tests say')]
    : [];
}

function alteringHooks(text: string): Map<string, string> {
  const code = text.replaceAll(/(?<!\S)#.*$/gm, '');
  return new Map(
    [...code.matchAll(hook)].flatMap(([, , name = '', body = '']): [string, string][] => {
      const found = [...body.matchAll(alters)];
      return found.length > 0 ? [[name, found.join(' ')]] : [];
    }),
  );
}

/** Whether a `TestMain` ends with success without what `m.Run` said. */
function fixedEnd(text: string): boolean {
  const code = text.replaceAll(/\/\/.*$/gm, '');
  const [, m = '', body = ''] = /^func\s+TestMain\s*\(\s*(\w+)[^)]*\)\s*\{([\s\S]*?)^\}/m.exec(`${code}\n}`) ?? [];
  if (m === '') return false;
  if (!new RegExp(`\\b${m}\\.Run\\(|\\(\\s*${m}\\b`).test(body)) return true;
  const ran = [...body.matchAll(/\b(\w+)\s*(?::?=)[^\n;]*\.Run\(/g)].map(([, name]) => name);
  const ends = [...body.matchAll(/\bos\.Exit\(\s*([^()\n]*(?:\([^()\n]*\))?[^()\n]*)\)/g)].map(([, end = '']) =>
    end.trim(),
  );
  if (ends.includes('0')) return true;
  const said = (end: string): boolean =>
    ran.some((name) => new RegExp(`\\b${name}\\b`).test(end)) || end.includes('.Run(');
  // an early end with an error is no success
  const others = ends.filter((end) => !/^[1-9]\d*$/.test(end));
  return others.length > 0 && !others.some(said);
}
