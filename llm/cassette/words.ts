import type { Difference } from './difference.ts';

/** The language in which people are told about a replay. */
export type Language = 'zh-CN' | 'en';

/** Whose request it is, for people. */
interface Asking {
  readonly agent: string;
  readonly task: string;
  /** From 0. */
  readonly turn: number;
}

interface Words {
  plays(path: string, count: number): string;
  torn(path: string): string;
  differs(asking: Asking, difference: Difference): string;
  /** After the last difference that is told one by one. */
  noMore: string;
  missing(asked: { role: string; task: string; turn: number; path: string; size: number; left: number }): string;
  total(counts: { played: number; left: number; different: number }): string;
}

/** What people are told about a replay. */
export const words: Readonly<Record<Language, Words>> = {
  en: {
    plays: (path, count) => `replay: models are not asked, their ${count} replies come from ${path}`,
    torn: (path) => `replay: the last line of ${path} was not written whole; it is left out`,
    differs: ({ agent, task, turn }, { where, at, recorded, now }) =>
      `replay: ${agent}, ${task === '' ? '' : `task ${task}, `}request ${turn + 1}: ${where} differs from the recording${at === undefined ? '' : ` at character ${at + 1}`}: recorded "${recorded}", now "${now}"`,
    noMore: 'replay: further differences are counted only',
    missing: ({ role, task, turn, path, size, left }) =>
      `The recording ${path} has no reply for request ${turn + 1} of the ${role}${task === '' ? '' : ` in task ${task}`}, nor for the same request elsewhere; of its ${size} replies ${left} are not played. The run went another way than the recorded one: record it anew.`,
    total: ({ played, left, different }) =>
      `replay: ${played} replies played, ${left} of the recording not asked for, ${different} requests differed`,
  },
  'zh-CN': {
    plays: (path, count) => `重放：不询问模型，${count} 条回复来自 ${path}`,
    torn: (path) => `重放：${path} 的最后一行没有写完整，已忽略`,
    differs: ({ agent, task, turn }, { where, at, recorded, now }) =>
      `重放：${agent}${task === '' ? '' : `，任务 ${task}`}，第 ${turn + 1} 次请求与录制不同：${where}${at === undefined ? '' : ` 第 ${at + 1} 个字符起`}，录制为“${recorded}”，现在为“${now}”`,
    noMore: '重放：其余的不同之处只计数',
    missing: ({ role, task, turn, path, size, left }) =>
      `录制 ${path} 中没有 ${role} ${task === '' ? '' : `在任务 ${task} 中`}第 ${turn + 1} 次请求的回复，别处也没有相同的请求；共 ${size} 条回复，还有 ${left} 条没有播放。这次运行与录制时走的路不同：请重新录制。`,
    total: ({ played, left, different }) =>
      `重放：播放了 ${played} 条回复，录制中有 ${left} 条没有用到，${different} 次请求与录制不同`,
  },
};
