import { threadCommandOf } from '../coordinator/thread-command.ts';

/** The language a request is answered in: its own, or that of the texts around it (title, description) when it says too little. */
export function languageOf(request: string, ...around: readonly string[]): 'zh-CN' | 'en' {
  for (const text of [request, ...around]) {
    const { han, words } = count(text);
    if (han === 0 && (words < 2 || threadCommandOf(text))) continue;
    return han > 0 && han >= words ? 'zh-CN' : 'en';
  }
  return count([request, ...around].join(' ')).han > 0 ? 'zh-CN' : 'en';
}

/** Counts Han characters and words in prose: code, addresses, paths and names with signs in them say nothing about the language. */
function count(text: string): { han: number; words: number } {
  const prose = text
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/https?:\/\/[^\s\p{Script=Han}]+/gu, ' ')
    .replace(/[\w-]*[./_@#\\:=(){}[\]<>][\w./_@#\\:=(){}[\]<>-]*\w/g, ' ');
  if (/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(prose)) return { han: 0, words: 2 };
  return {
    han: prose.match(/\p{Script=Han}/gu)?.length ?? 0,
    words: prose.match(/\p{Script=Latin}{2,}/gu)?.length ?? 0,
  };
}
