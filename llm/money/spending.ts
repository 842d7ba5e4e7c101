import { estimateTokens } from '../../base/estimate-tokens.ts';
import {
  type BudgetLimits,
  type BudgetLine,
  inCurrency,
  nothingSpent,
  type Spent,
  tightest,
  uncounted,
} from '../../protocol/index.ts';
import type { Caller } from '../caller.ts';
import { type ChatBody, textsOf } from '../chat-body.ts';
import type { Reply } from '../reply.ts';
import { type Account, Accounts, type Slice } from './accounts.ts';
import { Admission } from './admission.ts';
import { type BudgetLevel, budgetLevel, lineText, percentOf } from './budget.ts';
import { costOf } from './cost.ts';
import type { Ledger } from './ledger.ts';
import type { ModelFacts, ModelPlace } from './model-facts.ts';
import { refuseOthers, withNote, withWrapUpTools } from './steer.ts';

/** The most that is set aside for a reply before it comes; longer ones are rare. Tokens. */
const TYPICAL_OUTPUT = 32_768;
/** A reply is not limited to less than this as long as so much is left, since the size of the request is a guess. Tokens. */
const LEAST_OUTPUT = 1024;

export interface SpendingOptions {
  readonly ledger: Ledger;
  readonly limits: BudgetLimits;
  readonly facts: ModelFacts;
  /** How long the run has worked, seconds. */
  readonly seconds: () => number;
  readonly onNotice: (line: string) => void;
}

/** One call that is to be paid for. */
interface PaidCall {
  /** With the name of the model at its provider. */
  readonly body: ChatBody;
  readonly host: string;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The level of the budget that a request tells its model. */
export type Told = 'converge' | 'wrap_up';

/** Keeps the calls of a run within its budget, and steers models towards an end when it runs low. */
export class Spending {
  readonly #options: SpendingOptions;
  readonly #accounts: Accounts;
  readonly #admission: Admission;
  /** What is being told, as the ledger has it: level and task. */
  readonly #telling = new Set<string>();
  readonly #said = new Set<string>();

  constructor(options: SpendingOptions) {
    this.#options = options;
    this.#accounts = new Accounts(options.ledger, options.limits, options.seconds);
    this.#admission = new Admission(this.#accounts);
  }

  /** What is used of the run's budget. */
  lines(): BudgetLine[] {
    return this.#accounts.total();
  }

  /** Seconds that are left of a budget of time; Infinity when there is none. */
  secondsLeft(): number {
    return Math.max(0, (this.#options.limits.seconds ?? Infinity) - this.#options.seconds());
  }

  /** Throws ModelError `budget` when nothing is left for a call of this agent. */
  check(agent: string): void {
    this.#accounts.check(this.#accounts.accountOf(agent));
  }

  /** See {@link Accounts.open}. */
  openSlice(agent: string, slice: Slice, of?: string): Slice {
    return this.#accounts.open(agent, slice, of);
  }

  closeSlice(agent: string): void {
    this.#accounts.close(agent);
    this.#admission.changed();
  }

  /**
   * Makes one call as the budget allows it: waits for its place, limits its reply, tells its model, leaves it the tools that are due.
   * Rejects with ModelError `budget`, or as `work` does.
   */
  async during(call: PaidCall, work: (body: ChatBody, told: Told | undefined) => Promise<Reply>): Promise<Reply> {
    const { caller, signal } = call;
    const place = { model: call.body.model, host: call.host };
    this.#options.facts.tellUnknown(place);
    const account = this.#accounts.accountOf(caller.agent);
    const input = inputOf(call.body);
    const wanted = this.#outputOf(call.body, place);
    const need = this.#needOf(place, input, Math.min(wanted, TYPICAL_OUTPUT));
    const take = () => {
      const limit = this.#outputLimit(account, place, input);
      return {
        need: this.#needOf(place, input, Math.min(wanted, TYPICAL_OUTPUT, limit)),
        body: limit < wanted ? withOutputLimit(call.body, limit) : call.body,
      };
    };
    const { body, release } = await this.#admission.enter(account, need, take, signal);
    const steered = this.#steer(body, account, caller.taskId);
    try {
      const reply = await work(steered.body, steered.told);
      return steered.finish(reply);
    } finally {
      if (steered.told) this.#telling.delete(`${steered.told} ${caller.taskId}`);
      release();
      this.#tellPeople();
    }
  }

  #steer(body: ChatBody, account: Account, taskId: string) {
    const lines = this.#accounts.linesFor(account);
    const [level, line] = [budgetLevel(lines), tightest(lines)];
    const asIs = { body, told: undefined, finish: (reply: Reply) => reply };
    // what offers no tools is no agent at work: a judge, a summary
    if (!line || (body.tools ?? []).length === 0 || (level !== 'converge' && level !== 'wrap_up')) return asIs;
    const key = `${level} ${taskId}`;
    const told = this.#options.ledger.wasTold(taskId, level) || this.#telling.has(key) ? undefined : level;
    if (told) this.#telling.add(key);
    const noted = told ? withNote(body, told, line) : body;
    if (level === 'converge') return { ...asIs, body: noted, told };
    const left = withWrapUpTools(noted);
    return { body: left.body, told, finish: (reply: Reply) => refuseOthers(reply, left.allowed, line) };
  }

  /** How long the reply may be that is asked for, as far as that is known. */
  #outputOf(body: ChatBody, place: ModelPlace): number {
    const asked = body.max_completion_tokens ?? body.max_tokens;
    return Math.min(typeof asked === 'number' ? asked : Infinity, this.#options.facts.maxOutputOf(place));
  }

  /** How long a reply can be with what is left beside the calls in flight. */
  #outputLimit(account: Account, place: ModelPlace, input: number): number {
    const tokens = this.#accounts.left(account, 'tokens');
    const limits = [tokens - input];
    const price = this.#options.facts.priceOf(place);
    const money = this.#accounts.moneyLeft(account);
    if (price && money) {
      const worth = inCurrency({ [price.currency]: 1 }, money.currency, this.#options.limits.rates);
      const asked = costOf({ input, output: 0, cached: 0, thinking: 0 }, price).amount;
      const each = costOf({ input, output: 1, cached: 0, thinking: 0 }, price).amount - asked;
      if (worth * each > 0) limits.push((money.amount / worth - asked) / each);
    }
    return Math.max(1, Math.floor(Math.max(Math.min(...limits), Math.min(tokens, LEAST_OUTPUT))));
  }

  #needOf(place: ModelPlace, input: number, output: number): Spent {
    const cost = this.#options.facts.costOf(place, { input, output, cached: 0, thinking: 0 });
    return { ...nothingSpent, paid: 1, input, output, cost: cost ? { [cost.currency]: cost.amount } : {} };
  }

  /** One line for people at each level of the run's budget, and when a currency cannot count. */
  #tellPeople(): void {
    const { limits, ledger } = this.#options;
    const lines = this.lines();
    const [level, line] = [budgetLevel(lines), tightest(lines)];
    if (line && level !== 'ok')
      this.#sayOnce(level, `${percentOf(line)} % of the budget is used (${lineText(line)}); ${does[level]}`);
    for (const currency of uncounted(ledger.total.cost, limits)) {
      const { currency: own } = limits.money ?? { currency: '' };
      const how = `give its rate in the file of NPC_PRICES`;
      this.#sayOnce(currency, `costs in ${currency} do not count in the budget of ${own}; ${how}`);
    }
  }

  #sayOnce(key: string, line: string): void {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#options.onNotice(line);
  }
}

const does: Readonly<Record<Exclude<BudgetLevel, 'ok'>, string>> = {
  converge: 'the models are told to come to an end',
  wrap_up: 'the models may only hand in what they have',
  spent: 'no model is asked any more',
};

function inputOf(body: ChatBody): number {
  let tokens = 0;
  for (const text of textsOf(body)) tokens += estimateTokens(text);
  return tokens;
}

function withOutputLimit(body: ChatBody, limit: number): ChatBody {
  if (body.max_completion_tokens != null) return { ...body, max_completion_tokens: limit };
  return { ...body, max_tokens: limit };
}
