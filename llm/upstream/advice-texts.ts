import type { ModelErrorKind } from '../../core/model.ts';
import type { UpstreamError } from './errors.ts';

/** Of messages to people. */
export type Language = 'zh-CN' | 'en';

/** What a message can name. */
export interface AdviceContext {
  readonly host: string;
  readonly hasKey: boolean;
  readonly model: string;
  /** Names of the settings a user changes. */
  readonly keyVariable: string;
  readonly urlVariable: string;
  readonly modelVariable: string;
  readonly tries: number;
  readonly language: Language;
}

/** What a sentence is made of. */
interface Facts extends AdviceContext {
  /** Status and words of the provider. */
  readonly said: string;
  readonly error: UpstreamError;
}

type Told = Exclude<ModelErrorKind, 'budget' | 'cancelled'>;
type Sentences = Readonly<Record<Told, (facts: Facts) => string>>;

const english: Sentences = {
  auth: ({ host, said, hasKey, keyVariable, urlVariable }) =>
    hasKey
      ? `${host} rejected the key (${said}). Set ${keyVariable} to a key that is valid there, and check ${urlVariable}.`
      : `${host} wants a key (${said}), and ${keyVariable} is not set. Set it to a key of that provider.`,
  quota: ({ host, said, keyVariable }) =>
    `The account at ${host} has no credit left (${said}). Top it up, or set ${keyVariable} to a key that has credit.`,
  rate_limit: ({ host, said, tries, error, modelVariable }) =>
    `${host} still limits the rate${after(tries)} (${said}). Run again later${waitOf(error)}, or ${other(modelVariable)}.`,
  overloaded: ({ host, said, tries, modelVariable }) =>
    `${host} is still overloaded${after(tries)} (${said}). Run again later, or ${other(modelVariable)}.`,
  context_length: ({ model, said, modelVariable }) =>
    `The conversation is too long for ${model} (${said}). Compact it, or set ${modelVariable} to a model with a larger window.`,
  content_filter: ({ host, said, modelVariable }) =>
    `The content filter of ${host} refused the request (${said}). Say it in other words, or ${other(modelVariable)}.`,
  bad_request: ({ host, said, model, modelVariable, urlVariable }) =>
    `${host} refused the request (${said}). Check ${modelVariable} ("${model}") and ${urlVariable}.`,
  misconfigured: ({ host, said, model, modelVariable }) =>
    `${host} does not know the model "${model}" (${said}). Set ${modelVariable} to one that it offers.`,
  empty: ({ model, tries, modelVariable }) =>
    `The model "${model}" answered nothing${after(tries)}. Run again, or ${other(modelVariable)}.`,
  not_sse: ({ host, said, urlVariable }) =>
    `${host} does not answer like an OpenAI-compatible server (${said}). Check ${urlVariable}; it often ends in /v1.`,
  timeout: silent,
  stalled: silent,
  incomplete: damaged,
  bad_event: damaged,
  server: ({ host, said, tries, urlVariable }) =>
    `The call to ${host} failed${after(tries)} (${said}). Check ${urlVariable}, and run again when the provider works.`,
};

function silent({ host, said, tries, modelVariable }: Facts): string {
  return `${host} went silent${after(tries)} (${said}). Run again, or ${other(modelVariable)}.`;
}

function damaged({ host, said, tries, modelVariable }: Facts): string {
  return `${host} sent a damaged reply${after(tries)} (${said}). Run again, or ${other(modelVariable)}.`;
}

function after(tries: number): string {
  return tries > 1 ? ` after ${tries} tries` : '';
}

function other(modelVariable: string): string {
  return `set ${modelVariable} to another model`;
}

function waitOf(error: UpstreamError): string {
  return error.waitMs === undefined ? '' : ` (it asks to wait ${Math.ceil(error.waitMs / 1000)} s)`;
}

const chinese: Sentences = {
  auth: ({ host, said, hasKey, keyVariable, urlVariable }) =>
    hasKey
      ? `${host} 拒绝了密钥（${said}）。请把 ${keyVariable} 设为在那里有效的密钥，并检查 ${urlVariable}。`
      : `${host} 需要密钥（${said}），但没有设置 ${keyVariable}。请设为该服务的密钥。`,
  quota: ({ host, said, keyVariable }) =>
    `${host} 上的账户没有余额了（${said}）。请充值，或把 ${keyVariable} 换成有余额的密钥。`,
  rate_limit: ({ host, said, tries, error, modelVariable }) =>
    `${host} 一直在限流（${triedText(tries)}${said}）。请稍后再运行${waitText(error)}，或${otherText(modelVariable)}。`,
  overloaded: ({ host, said, tries, modelVariable }) =>
    `${host} 一直过载（${triedText(tries)}${said}）。请稍后再运行，或${otherText(modelVariable)}。`,
  context_length: ({ model, said, modelVariable }) =>
    `对话对 ${model} 来说太长（${said}）。请缩短任务，或把 ${modelVariable} 换成窗口更大的模型。`,
  content_filter: ({ host, said, modelVariable }) =>
    `${host} 的内容审查拒绝了请求（${said}）。请换一种说法，或${otherText(modelVariable)}。`,
  bad_request: ({ host, said, model, modelVariable, urlVariable }) =>
    `${host} 拒绝了请求（${said}）。请检查 ${modelVariable}（“${model}”）和 ${urlVariable}。`,
  misconfigured: ({ host, said, model, modelVariable }) =>
    `${host} 没有模型“${model}”（${said}）。请把 ${modelVariable} 设为它提供的模型。`,
  empty: ({ model, tries, modelVariable }) =>
    `模型“${model}”没有给出任何回答${tries > 1 ? `（试了 ${tries} 次）` : ''}。请再运行一次，或${otherText(modelVariable)}。`,
  not_sse: ({ host, said, urlVariable }) =>
    `${host} 的回答不像 OpenAI 兼容服务（${said}）。请检查 ${urlVariable}，它通常以 /v1 结尾。`,
  timeout: silentText,
  stalled: silentText,
  incomplete: damagedText,
  bad_event: damagedText,
  server: ({ host, said, tries, urlVariable }) =>
    `调用 ${host} 失败（${triedText(tries)}${said}）。请检查 ${urlVariable}，等服务恢复后再运行。`,
};

function silentText({ host, said, tries, modelVariable }: Facts): string {
  return `${host} 没有了声音（${triedText(tries)}${said}）。请再运行一次，或${otherText(modelVariable)}。`;
}

function damagedText({ host, said, tries, modelVariable }: Facts): string {
  return `${host} 发来的回答是残缺的（${triedText(tries)}${said}）。请再运行一次，或${otherText(modelVariable)}。`;
}

function triedText(tries: number): string {
  return tries > 1 ? `试了 ${tries} 次，` : '';
}

function waitText(error: UpstreamError): string {
  return error.waitMs === undefined ? '' : `（它要求等待 ${Math.ceil(error.waitMs / 1000)} 秒）`;
}

function otherText(modelVariable: string): string {
  return `把 ${modelVariable} 换成别的模型`;
}

/** What people are told about a call that failed for good: what failed, the provider's words, and what to do. */
export const sentences: Readonly<Record<Language, Sentences>> = { en: english, 'zh-CN': chinese };

/** What is told when several routes failed: the first one's words, and what became of the others. */
export function together(first: string, others: string, language: Language): string {
  return language === 'en'
    ? `${first} What stands behind it failed too: ${others}.`
    : `${first}后备的也失败了：${others}。`;
}
