import type { Cause } from '../protocol/index.ts';

/**
 * Texts that look like an end and are none. Only the whole of a short text is judged, since a long one may well speak of errors and
 * of background work. What tests and diffs can show is never judged by words.
 */
const MOST_CHARACTERS = 400;

/** A transport's error message that was handed on as if it were the answer. */
const upstreamErrors: readonly { readonly form: RegExp; readonly cause: Cause }[] = [
  { form: /\binsufficient[_ ](quota|balance|funds)\b|(余额|额度)不足/i, cause: 'quota' },
  { form: /\b(invalid|incorrect) api[ _]key\b|^\W*unauthorized\b/i, cause: 'auth' },
  { form: status('401|403'), cause: 'auth' },
  { form: /\btoo many requests\b|\brate[ _]limit (exceeded|reached)\b/i, cause: 'rate_limited' },
  { form: status('429'), cause: 'rate_limited' },
  { form: status('5\\d\\d'), cause: 'upstream_error' },
  {
    form: /^\W*((api|upstream|server|internal|http|stream|connection|network|request)\W+)*(error|错误)\s*[:：]|\b(bad gateway|gateway timeout|connection (refused|reset)|fetch failed|stream (error|closed|interrupted)|request timed out)\b|\b(service|model) (is )?(temporarily )?(unavailable|overloaded)\b|上游(服务)?(错误|超时)/i,
    cause: 'upstream_error',
  },
];

/** A text that begins with an HTTP status: alone, behind a word for it, or before its reason. `512 images` is none. */
function status(codes: string): RegExp {
  const reason = 'unauthorized|forbidden|too many|rate|internal|bad gateway|service|gateway|server|overloaded|error';
  const wording = '(api\\W+)?(error|错误)(\\W|code|http|status)*';
  return new RegExp(`^\\W*(${wording}\\b(${codes})\\b|(http\\W*|status\\W*)?(${codes})\\W*($|[{[]|${reason}))`, 'i');
}

/** A promise to finish later: nobody is there later. */
const deferrals: readonly RegExp[] = [
  /\b(still|is|are|now) (running|executing|building|in progress)\b.{0,80}\b(background|report|update|once|when|later)\b/is,
  /\b(in|to) the background\b.{0,120}\b(will|report|update|later|once|when)\b/is,
  /\b(I|we)('ll| will) (report back|report (once|when|as soon)|update you|let you know|get back|check back|follow up)\b/i,
  /\b(still running|kicked off|started)\b.{0,60}\b(results?|report|update) (will )?(follow|come)/is,
  /(还在|仍在|正在)(跑|运行|执行|构建).{0,30}(完|结束)(了|后)?.{0,6}(告诉|通知|汇报|告知|回复)/s,
  /(后台|仍在|正在).{0,30}(运行|执行|构建|进行).{0,60}(稍后|之后|完成后|届时|再).{0,20}(汇报|报告|告知|更新|通知|回复)/s,
  /(稍后|完成后|之后|届时)(再|会|将)?.{0,10}(汇报|报告|告知|更新|通知|回复)/,
];

export interface FalseEnd {
  readonly cause: Cause;
  /** The text, or its beginning. */
  readonly quote: string;
}

/** Recognises an answer or a summary that is no end; undefined for everything else. */
export function findFalseEnd(text: string): FalseEnd | undefined {
  const trimmed = text.trim();
  if (trimmed.length === 0 || trimmed.length > MOST_CHARACTERS) return undefined;
  const quote = trimmed.slice(0, 200);
  const upstream = upstreamErrors.find(({ form }) => form.test(trimmed));
  if (upstream) return { cause: upstream.cause, quote };
  return deferrals.some((form) => form.test(trimmed)) ? { cause: 'left_running', quote } : undefined;
}

/** The first words of a report of done work. */
const doneWork =
  /^\W*((我|本次|这次)?(已经?|刚刚?)(修改|修复|提交|推送|创建|合并|更新|添加|删除|实现|完成|改好|改成)|(I|we)(['’]ve| have)? (just )?(fixed|changed|updated|added|removed|implemented|pushed|committed|opened|merged)\b|(fixed|done|implemented|updated|pushed|committed)\b\s*[.!:,，。])/iu;
const asksSomething =
  /[?？]|吗|什么|怎么|为何|为什么|如何|是否|哪|\b(what|why|how|which|when|where|who|is|are|does|did|has)\b/iu;

/** An answer that reports work as done, to a request that asked for it: an answer changes nothing, so the report is not true. */
export function reportsWork(answer: string, request: string): boolean {
  return answer.length <= MOST_CHARACTERS && doneWork.test(answer.trim()) && !asksSomething.test(request);
}
