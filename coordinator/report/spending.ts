import { costText, moneyText } from '../../base/money-text.ts';
import {
  type BudgetLine,
  budgetLines,
  nothingSpent,
  plusSpent,
  type Spent,
  shareOf,
  tightest,
  uncounted,
} from '../../protocol/index.ts';
import { cell } from './fit.ts';
import { type Texts, textsFor } from './texts.ts';
import type { RunView } from './view.ts';

/** The footer's words on what the run used: calls, tokens, time, cost, and what is left of the budget. */
export function spendingLine(view: RunView, t: Texts): string {
  const total = totalOf(view);
  const seconds = Math.round((view.now - view.startedAt) / 1000);
  const parts = [t.usage(total.calls, total.input, total.output, seconds), cost(total, t)];
  const left = linesOf(view).map((line) => amount({ ...line, used: Math.max(0, line.limit - line.used) }, t));
  if (left.length > 0) parts.push(t.budgetLeft(left.join(t.comma)));
  const strange = uncounted(total.cost, view.record.budget);
  if (strange.length > 0) parts.push(t.uncounted(strange.join(t.comma)));
  return parts.filter((part) => part !== '').join(' · ');
}

/** What each role used of each model; nothing when no model was asked. */
export function spendingTable(view: RunView, t: Texts): string {
  const { usage } = view.record;
  if (usage.length === 0) return '';
  const rows = usage.map((line) => {
    const tokens = [line.input, line.cached, line.output].map(whole).join(' | ');
    return `| ${cell(line.role)} | ${cell(line.model)} | ${line.calls} | ${tokens} | ${cost(line, t) || '–'} |`;
  });
  return `<details><summary>${t.costs}</summary>\n\n${t.costsHead}\n${rows.join('\n')}\n\n</details>`;
}

/** What is told of a run that its budget ended; nothing when no limit of it is reached. */
export function budgetMessage(view: RunView): string | undefined {
  const t = textsFor(view.language);
  const line = tightest(linesOf(view));
  if (!line || shareOf(line) < 1) return undefined;
  const { wip, branch } = view.record.delivered;
  const used = t.usedOf(amount(line, t), amount({ ...line, used: line.limit }, t));
  return t.budgetSpent(used, (wip ?? branch) !== undefined);
}

function linesOf({ record, now, startedAt }: RunView): BudgetLine[] {
  const seconds = (now - Math.min(startedAt, record.startedAt ?? startedAt)) / 1000;
  return budgetLines(record.budget, { ...record.usage.reduce(plusSpent, nothingSpent), seconds });
}

function totalOf(view: RunView): Spent {
  return view.record.usage.reduce(plusSpent, nothingSpent);
}

function cost(spent: Spent, t: Texts): string {
  const credits = spent.onCredits > 0 ? t.credits(spent.credits > 0 ? spent.credits.toFixed(2) : '') : '';
  return [money(spent, t), credits].filter((part) => part !== '').join(t.comma);
}

function money(spent: Spent, t: Texts): string {
  const known = costText(spent.cost);
  if (known === '') return spent.unpriced > 0 ? t.costUnknown : '';
  const doubts = [
    ...(spent.estimated > 0 ? [t.estimated(spent.estimated)] : []),
    ...(spent.unpriced > 0 ? [t.unpriced(spent.unpriced)] : []),
  ];
  return t.cost(known, doubts.join(t.comma));
}

function amount({ unit, used, currency }: BudgetLine, t: Texts): string {
  return unit === 'money' ? moneyText(used, currency ?? '') : t.units[unit](whole(used));
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
