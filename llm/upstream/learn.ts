import type { ChatBody } from '../chat-body.ts';
import type { Dialect } from './dialect.ts';
import type { UpstreamError } from './errors.ts';

/** A request that was refused, and in which words. */
interface Refusal {
  readonly dialect: Dialect;
  /** The body as it was sent. */
  readonly sent: ChatBody;
  readonly said: string;
}

/** Fields that every request needs; `tools` is left to the lesson about tools. */
const needed = new Set(['model', 'messages', 'stream', 'tools', 'max_tokens', 'max_completion_tokens']);

/**
 * The dialect in which a refused request is worth another try at once; undefined when the refusal teaches nothing that was not
 * `tried` yet (as JSON of dialects).
 */
export function learnFrom(
  dialect: Dialect,
  sent: ChatBody,
  error: UpstreamError,
  tried: ReadonlySet<string>,
): Dialect | undefined {
  const refusal = { dialect, sent, said: error.message };
  // llama.cpp refuses tools with a 500
  const lessons =
    error.kind === 'bad_request' ? lessonsOf(refusal) : error.kind === 'server' ? toolLesson(refusal) : [];
  for (const lesson of lessons) {
    const changed = { ...dialect, ...lesson };
    if (!tried.has(JSON.stringify(changed))) return changed;
  }
  return undefined;
}

function* lessonsOf(refusal: Refusal): Iterable<Partial<Dialect>> {
  yield* reasoningLesson(refusal);
  yield* signatureLesson(refusal);
  yield* limitLesson(refusal);
  yield* historyLesson(refusal);
  yield* fieldLesson(refusal);
  yield* toolLesson(refusal);
  yield* contentLesson(refusal);
}

/** Some want a model's thoughts back, some refuse them. */
function* reasoningLesson({ dialect, said }: Refusal): Iterable<Partial<Dialect>> {
  if (!names(said, 'reasoning_content')) return;
  const missing = /missing|required|must|needs?\b|expected|缺少/i.test(said);
  if (missing && !/must not|not (be )?(allowed|permitted|supported)/i.test(said)) yield { reasoning: 'all' };
  yield { reasoning: dialect.reasoning === 'never' ? 'loop' : 'never' };
}

function* signatureLesson({ dialect, said }: Refusal): Iterable<Partial<Dialect>> {
  if (names(said, 'extra_content')) yield { leftOut: [...dialect.leftOut, 'extra_content'] };
  else if (/thought.?signature/i.test(said)) yield { signatures: 'filled' };
}

function* limitLesson({ sent, said, dialect }: Refusal): Iterable<Partial<Dialect>> {
  const asked = sent.max_tokens ?? sent.max_completion_tokens;
  if (typeof asked !== 'number' || !/max_tokens|max_completion_tokens|output tokens/i.test(said)) return;
  const most = /(?:at most|up to|equal to|<=|≤|exceeds?|maximum[^\d]{0,40}|\[1,)\s*(\d{2,9})\b/i.exec(said)?.[1];
  if (most !== undefined && Number(most) < asked) yield { maxOutput: Number(most) };
  const other = dialect.limitField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  yield { limitField: other };
  yield { limitField: 'none' };
}

/** The form of the history: ids, order and number of calls, the system role. */
function* historyLesson({ said }: Refusal): Iterable<Partial<Dialect>> {
  if (/tool|\bid\b/i.test(said)) {
    if (/length of 9|\b9 (alphanumeric|characters)|\{9\}/i.test(said)) yield { callIds: 'nine' };
    else if (/a-zA-Z0-9_-|\bid\b.*(pattern|too long|maximum length)/is.test(said)) yield { callIds: 'plain' };
  }
  if (/role .?user.? after role .?tool/i.test(said)) yield { afterTools: 'assistant' };
  if (/single tool.?call|one tool.?call|parallel tool.?calls? (is|are) not/i.test(said)) yield { parallelCalls: false };
  if (/system.{0,20}role|role.{0,20}system/i.test(said) && isAboutSupport(said)) yield { system: 'user' };
}

function* fieldLesson({ dialect, sent, said }: Refusal): Iterable<Partial<Dialect>> {
  const optional = Object.keys(sent).filter((field) => !needed.has(field));
  const strict = sent.tools?.some((tool) => tool.function && 'strict' in tool.function) ? ['strict'] : [];
  const named = [...optional, ...strict].filter((field) => names(said, field));
  if (names(said, 'include_usage')) named.push('stream_options');
  if (/\bstream(ing)?( mode)? (is|are) not (supported|available|enabled|allowed)/i.test(said))
    named.push('stream', 'stream_options');
  if (named.length > 0) yield { leftOut: [...new Set([...dialect.leftOut, ...named])] };
}

/** A gateway without tools; also one whose template has no place for their results. */
function* toolLesson({ sent, said }: Refusal): Iterable<Partial<Dialect>> {
  if (sent.tools === undefined || /schema|tool_call_id|invalid function/i.test(said)) return;
  if (/\btools?\b|tool.?(use|call)|function.?call/i.test(said) && isAboutSupport(said)) yield { tools: 'text' };
}

function* contentLesson({ dialect, said }: Refusal): Iterable<Partial<Dialect>> {
  if (!/content/i.test(said) || !/null|none|string|empty|blank|whitespace|required|missing/i.test(said)) return;
  if (dialect.emptyContent === 'null') yield { emptyContent: 'blank' };
  yield { emptyContent: 'absent' };
}

function isAboutSupport(said: string): boolean {
  return /support|not (enabled|available|allowed|permitted)|unrecogni[sz]ed|unknown|unexpected|extra (fields|inputs)|requires|alternate|不支持/i.test(
    said,
  );
}

/** Whether a message names a field. A field that is also an English word must stand in quotes, or beside a word for "field". */
function names(said: string, field: string): boolean {
  if (field.includes('_')) return new RegExp(`(?<![\\w])${field}(?![\\w])`).test(said);
  const refused = '(extra|is not|are not|not|unsupported|unknown|unrecogni[sz]ed)';
  return new RegExp(
    `["'\`.]${field}["'\`]|\\b(parameter|argument|field|property|key|attribute|supplied|permitted|input)s?:? +${field}\\b|\\b${field}:? +${refused}\\b`,
    'i',
  ).test(said);
}
