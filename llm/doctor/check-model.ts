import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../base/log.ts';
import { ModelError, type ToolOffer } from '../../core/model.ts';
import type { AssistantTurn, Turn } from '../../protocol/index.ts';
import { type Gateway, startGateway } from '../gateway.ts';
import type { PriceTable } from '../money/price-table.ts';
import type { UpstreamOptions } from '../options.ts';
import { type Dialect, type DialectTable, dialectKey, presumedDialect } from '../upstream/dialect.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { ProxySettings } from '../upstream/proxy.ts';
import { type Asked, asker } from './ask.ts';
import { type Check, type CheckName, checkNames, type ModelCheck } from './check.ts';
import { listModels } from './list-models.ts';
import { redSquare } from './picture.ts';

export interface CheckOptions {
  readonly upstream: UpstreamOptions;
  readonly model: string;
  readonly proxies?: ProxySettings | undefined;
  readonly prices?: PriceTable;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Told what is looked at next. */
  onStep?(check: CheckName): void;
}

/** What a model can do, and the dialect in which a client gets it to; what was not learned is not in it. */
export interface CheckedModel extends ModelCheck {
  readonly dialects: DialectTable;
}

const weather: ToolOffer = {
  name: 'get_weather',
  description: 'The weather in one city, now.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Asks a model a handful of short questions and tells what it can do. Rejects with the signal's reason only. */
export async function checkModel(options: CheckOptions): Promise<CheckedModel> {
  const examination = new Examination(options);
  try {
    return await examination.run();
  } finally {
    await examination.close();
  }
}

class Examination {
  readonly #options: CheckOptions;
  readonly #checks = new Map<CheckName, Check>();
  readonly #gateways: Gateway[] = [];
  #host = '';
  #turn = 0;

  constructor(options: CheckOptions) {
    this.#options = options;
  }

  async run(): Promise<CheckedModel> {
    const { upstream, onStep } = this.#options;
    this.#host = new URL(upstream.baseURL).host;
    const gateway = await this.#open(upstream);
    await this.#list();
    onStep?.('answer');
    const answered = await this.#answer(gateway);
    if (!answered) return this.#result({});
    const able = await this.#tools(gateway);
    if (able) {
      await this.#results(able);
      await this.#parallel(able);
    }
    await this.#vision(gateway);
    return this.#result(this.#learned({ ...gateway.dialects(), ...able?.dialects() }));
  }

  async close(): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.close()));
  }

  async #open(upstream: UpstreamOptions): Promise<Gateway> {
    const { model, proxies, prices, log } = this.#options;
    const gateway = await startGateway({
      upstream,
      models: { default: model },
      proxies: proxies ?? {},
      ...(prices && { prices }),
      retry: { attempts: 2, maxWaitMs: 10_000 },
      timeouts: { firstByteMs: 60_000, idleMs: 30_000 },
      log,
      record: () => Promise.resolve(),
    });
    this.#gateways.push(gateway);
    return gateway;
  }

  async #list(): Promise<void> {
    const { upstream, model, proxies, signal, onStep } = this.#options;
    onStep?.('name');
    const loopback = /^(localhost|127(\.\d+){3}|\[::1\])(:|$)/.test(this.#host);
    const baseURL = upstream.baseURL.replace(/\/+$/, '');
    try {
      const names = await listModels({ baseURL, apiKey: upstream.apiKey, loopback, proxies, signal });
      if (names === undefined) this.#say('name', 'unknown', 'the endpoint has no list of models');
      else if (names.includes(model)) this.#say('name', 'yes', `one of the ${names.length} that the endpoint lists`);
      else this.#say('name', 'unknown', `not in the endpoint's list${similar(model, names)}`);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamError)) throw error;
      // some refuse the list alone: the first question decides
      this.#say('name', 'unknown', `the list of models: ${error.message}`);
    }
  }

  async #answer(gateway: Gateway): Promise<Asked | undefined> {
    const question = 'Count from 1 to 40 in digits, with spaces between, and write nothing else.';
    const asked = await this.#ask(gateway, [{ role: 'user', content: question }]);
    if (asked instanceof ModelError) {
      const { kind, message } = asked;
      if (kind === 'auth') this.#say('key', 'no', message);
      else if (kind === 'misconfigured') this.#say('name', 'no', message);
      else this.#say('answer', 'no', message);
      return undefined;
    }
    const { turn, deltas, firstMs, ms } = asked;
    this.#say('key', 'yes', this.#options.upstream.apiKey === '' ? 'none is wanted' : 'taken');
    if (this.#checks.get('name')?.verdict !== 'yes') this.#say('name', 'yes', 'it answers under this name');
    this.#say('answer', 'yes', `first word after ${seconds(firstMs)}, whole after ${seconds(ms)}`);
    if (deltas >= 3) this.#say('streaming', 'yes', `in ${deltas} pieces`);
    else this.#say('streaming', 'no', 'the reply came at once: long ones look silent until they are over');
    this.#usage(turn);
    return asked;
  }

  #usage({ usage, reasoning }: AssistantTurn): void {
    if (usage?.input == null || usage.output == null)
      this.#say('usage', 'no', 'tokens are not told: they are estimated, and so is what they cost');
    else this.#say('usage', 'yes', `${usage.input} in, ${usage.output} out`);
    if (reasoning) this.#say('thinking', 'yes', 'shown');
    else if (usage?.thinking) this.#say('thinking', 'partly', `${usage.thinking} tokens of it, not shown`);
    else this.#say('thinking', 'no', 'none was seen');
  }

  /** The gateway through which tools work; undefined when they do not. */
  async #tools(gateway: Gateway): Promise<Gateway | undefined> {
    const { upstream, model, onStep } = this.#options;
    onStep?.('tools');
    const first = await this.#ask(gateway, paris, [weather]);
    const key = dialectKey(upstream.baseURL, model);
    const inText = () => gateway.dialects()[key]?.tools === 'text';
    if (calls(first) > 0) {
      if (inText())
        this.#say('tools', 'partly', 'not taken: they go into the prompt, and calls are read from the text');
      else if (isNative(first)) this.#say('tools', 'yes', 'called as such');
      else this.#say('tools', 'partly', 'its calls come as text, from which they are read');
      return gateway;
    }
    if (!inText()) {
      // taken and left alone, or refused in words that teach nothing
      const other = await this.#open({ ...upstream, tools: 'text' });
      if (calls(await this.#ask(other, paris, [weather])) > 0) {
        this.#say('tools', 'partly', 'ignored: they go into the prompt, and calls are read from the text');
        return other;
      }
    }
    this.#say('tools', 'no', first instanceof ModelError ? first.message : 'it called none, though it was told to');
    return undefined;
  }

  async #results(gateway: Gateway): Promise<void> {
    this.#options.onStep?.('results');
    const first = await this.#ask(gateway, paris, [weather]);
    if (first instanceof ModelError || first.turn.calls[0] === undefined) return;
    const { id, name } = first.turn.calls[0];
    const told: Turn = { role: 'tool', call_id: id, name, content: '{"degrees": 21, "sky": "clear"}', ok: true };
    const one = { ...first.turn, calls: first.turn.calls.slice(0, 1) };
    const next = await this.#ask(gateway, [...paris, one, told], [weather]);
    if (next instanceof ModelError) this.#say('results', 'no', next.message);
    else if (next.turn.content.includes('21')) this.#say('results', 'yes', 'read');
    else this.#say('results', 'partly', 'taken, but the answer does not use them');
  }

  async #parallel(gateway: Gateway): Promise<void> {
    this.#options.onStep?.('parallel');
    const asked = await this.#ask(gateway, both, [weather]);
    if (asked instanceof ModelError) this.#say('parallel', 'unknown', asked.message);
    else if (calls(asked) > 1) this.#say('parallel', 'yes', `${calls(asked)} calls in one reply`);
    else this.#say('parallel', 'no', 'one call a reply: work takes more replies');
  }

  async #vision(gateway: Gateway): Promise<void> {
    const { signal, onStep } = this.#options;
    onStep?.('vision');
    const processToken = gateway.grantProcess({ agent: 'doctor-2', role: 'doctor' });
    const said = await asker(gateway, processToken, this.#turn++).picture(redSquare(), signal);
    if ('failed' in said) this.#say('vision', 'no', said.failed);
    else if (/\bred\b|红/i.test(said.text)) this.#say('vision', 'yes', 'it saw the colour of a picture');
    else this.#say('vision', 'no', 'it did not see the colour of a picture');
  }

  async #ask(gateway: Gateway, turns: readonly Turn[], tools: readonly ToolOffer[] = []): Promise<Asked | ModelError> {
    const { signal } = this.#options;
    try {
      return await asker(gateway, '', this.#turn++).turns(turns, tools, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ModelError) return error;
      throw error;
    }
  }

  #say(name: CheckName, verdict: Check['verdict'], note: string): void {
    this.#checks.set(name, { name, verdict, note });
  }

  /** What is not so by the model's name alone, nor set by a person. */
  #learned(dialects: DialectTable): DialectTable {
    const { upstream, model } = this.#options;
    const key = dialectKey(upstream.baseURL, model);
    const presumed: Partial<Dialect> = presumedDialect(model);
    const news = Object.entries(dialects[key] ?? {}).filter(
      ([field, value]) =>
        !isDeepStrictEqual(value, presumed[field as keyof Dialect]) && !(field === 'tools' && upstream.tools),
    );
    return { [key]: Object.fromEntries(news) };
  }

  #result(dialects: DialectTable): CheckedModel {
    const unknown = (name: CheckName): Check => ({ name, verdict: 'unknown', note: 'not reached' });
    const checks = checkNames.map((name) => this.#checks.get(name) ?? unknown(name));
    const can = (name: CheckName) => ['yes', 'partly'].includes(this.#checks.get(name)?.verdict ?? '');
    const usable = can('answer') && can('tools') && this.#checks.get('results')?.verdict !== 'no';
    return { host: this.#host, model: this.#options.model, checks, usable, dialects };
  }
}

const paris: readonly Turn[] = [
  { role: 'user', content: 'Call get_weather for Paris. When you have its result, say the degrees.' },
];
const both: readonly Turn[] = [
  { role: 'user', content: 'Call get_weather for Paris and for London, both calls at once in one reply.' },
];

function calls(asked: Asked | ModelError): number {
  return asked instanceof ModelError ? 0 : asked.turn.calls.length;
}

function isNative(asked: Asked | ModelError): boolean {
  return !(asked instanceof ModelError) && asked.turn.calls.every(({ origin }) => origin === 'native');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** The names that look like the one that is missing. */
function similar(model: string, names: readonly string[]): string {
  const bare = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const like = names.filter((name) => bare(name).includes(bare(model)) || bare(model).includes(bare(name)));
  return like.length === 0 ? '' : `; like it are ${like.slice(0, 3).join(', ')}`;
}
