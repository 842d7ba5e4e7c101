import type { Trigger } from './trigger.ts';

/** The same words in each language that people are answered in. */
export type Said = Readonly<Record<Trigger['language'], string>>;

/** Words in both languages. */
export function said(zh: string, en: string): Said {
  return { 'zh-CN': zh, en };
}
