import { costText, moneyText } from '../../base/money-text.ts';
import { budgetLines, nothingSpent, plusSpent, type Spent, shareOf, uncounted } from '../../protocol/index.ts';
import type { RunStory } from '../read/fold-run.ts';
import { plural } from './units.ts';

/** What calls cost: `0.12 CNY`, `~` in front where tokens were estimated, `unknown` where no price is known; empty for nothing used. */
export function costOf(spent: Spent): string {
  return [money(spent), creditsOf(spent)].filter((part) => part !== '').join(' + ');
}

/** `1.25 credits`; only the word where the platform did not say how many. */
function creditsOf({ credits, onCredits }: Spent): string {
  if (onCredits === 0) return '';
  return credits > 0 ? `${credits.toFixed(2)} credits` : 'credits';
}

function money({ cost, estimated, unpriced }: Spent): string {
  const known = costText(cost);
  if (known === '') return unpriced > 0 ? 'unknown' : '';
  return `${estimated > 0 ? '~' : ''}${known}${unpriced > 0 ? ' + unknown' : ''}`;
}

/** What a run cost in all, and what of its budget is left at `now`, in ms since epoch. */
export function spendingLines(story: RunStory, now: number): string[] {
  const total = story.usage.reduce<Spent>(plusSpent, nothingSpent);
  if (story.usage.length === 0) return [];
  const doubts = [
    ...(total.estimated > 0 ? [`the tokens of ${plural(total.estimated, 'call')} are estimates`] : []),
    ...(total.unpriced > 0 ? [`${plural(total.unpriced, 'call')} of a model whose price is not known`] : []),
    ...uncounted(total.cost, story.budget).map(
      (currency) => `${currency} does not count in the budget: no rate was given`,
    ),
  ];
  const left = budgetLines(story.budget, { ...total, seconds: (now - story.started) / 1000 }).map((line) => {
    const { unit, used, limit, currency } = line;
    const share = `${Math.max(0, 100 - Math.ceil(shareOf(line) * 100))} %`;
    if (unit === 'money') return `${moneyText(Math.max(0, limit - used), currency ?? '')} (${share})`;
    return `${Math.max(0, Math.round(limit - used)).toLocaleString('en')} ${unit} (${share})`;
  });
  return [
    '',
    ...leakLines(story),
    `cost: ${[costText(total.cost) || (total.unpriced > 0 ? 'unknown' : ''), creditsOf(total)].filter((part) => part !== '').join(' + ') || 'nothing'}${doubts.length > 0 ? `; ${doubts.join('; ')}` : ''}`,
    ...(left.length > 0 ? [`budget left: ${left.join(', ')}`] : []),
  ];
}

/** Calls that came as text, by model and format. */
function leakLines({ usage }: RunStory): string[] {
  const models = new Map<string, Spent>();
  for (const line of usage) models.set(line.model, plusSpent(models.get(line.model) ?? nothingSpent, line));
  return [...models].flatMap(([model, { rescued, dropped }]) => [
    ...(count(rescued) === 0 ? [] : [`${model} wrote ${plural(count(rescued), 'call')} as text: ${listed(rescued)}`]),
    ...(count(dropped) === 0 ? [] : [`${model} wrote ${plural(count(dropped), 'unusable call')}: ${listed(dropped)}`]),
  ]);
}

function count(formats: Spent['rescued']): number {
  return Object.values(formats).reduce((sum, one) => sum + one, 0);
}

function listed(formats: Spent['rescued']): string {
  return Object.entries(formats)
    .map(([format, times]) => `${times} ${format}`)
    .join(', ');
}
