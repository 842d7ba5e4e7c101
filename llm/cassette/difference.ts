import type { TakenRequest } from './request.ts';

/** The first place in which two requests differ. */
export interface Difference {
  /** As in `messages[3].content`. */
  readonly where: string;
  /** What follows counts characters of this text, from 0; absent where the values are no texts. */
  readonly at?: number;
  /** The first characters that differ, with a little of what stands before them. */
  readonly recorded: string;
  readonly now: string;
}

/** Characters that are shown before a difference, and from it on. */
const [BEFORE, SHOWN] = [12, 60];

/** Where two requests in normal form differ first: the model, then the messages, the parameters, the tools. */
export function differenceOf(recorded: TakenRequest, now: TakenRequest): Difference | undefined {
  return (
    walk('model', recorded.model, now.model) ??
    walk('messages', recorded.messages, now.messages) ??
    walk('params', recorded.params, now.params) ??
    walk('tools', byName(recorded.tools), byName(now.tools))
  );
}

function walk(where: string, recorded: unknown, now: unknown): Difference | undefined {
  if (typeof recorded === 'string' && typeof now === 'string') return inText(where, recorded, now);
  if (Array.isArray(recorded) && Array.isArray(now)) return inList(where, recorded, now);
  if (isObject(recorded) && isObject(now)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const found = walk(`${where}.${key}`, recorded[key], now[key]);
      if (found) return found;
    }
    return undefined;
  }
  return recorded === now ? undefined : { where, recorded: shown(recorded), now: shown(now) };
}

function inList(where: string, recorded: readonly unknown[], now: readonly unknown[]): Difference | undefined {
  const common = Math.min(recorded.length, now.length);
  for (let at = 0; at < common; at += 1) {
    const found = walk(`${where}[${at}]`, recorded[at], now[at]);
    if (found) return found;
  }
  if (recorded.length === now.length) return undefined;
  const one = (list: readonly unknown[]) => (list.length > common ? shown(list[common]) : '(none)');
  return { where: `${where}[${common}]`, recorded: one(recorded), now: one(now) };
}

function inText(where: string, recorded: string, now: string): Difference | undefined {
  if (recorded === now) return undefined;
  let at = 0;
  while (at < recorded.length && at < now.length && recorded[at] === now[at]) at += 1;
  const cut = (text: string) => {
    const [from, to] = [Math.max(0, at - BEFORE), at + SHOWN];
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`.replaceAll(
      /\p{Surrogate}/gu,
      '\uFFFD',
    );
  };
  return { where, at, recorded: cut(recorded), now: cut(now) };
}

/** Tools by their names, so that a difference names its tool and not its number. */
function byName(tools: unknown): unknown {
  if (!Array.isArray(tools)) return tools;
  return Object.fromEntries(
    tools.map((tool, at) => [(tool as { function?: { name?: string } })?.function?.name ?? at, tool]),
  );
}

function shown(value: unknown): string {
  const text = value === undefined ? '(none)' : JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…`.replaceAll(/\p{Surrogate}/gu, '\uFFFD') : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
