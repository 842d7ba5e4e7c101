import type { ChatBody } from '../chat-body.ts';

/** The body with every text of its messages masked, and all made well-formed; pictures in data URLs are passed on as they are. */
export function cleanBody(body: ChatBody, mask: (text: string) => string): ChatBody {
  const messages = mapTexts(body.messages, (text) => mask(wellFormed(text)));
  const tools = body.tools && mapTexts(body.tools, wellFormed);
  return { ...body, messages, ...(tools && { tools }) };
}

function mapTexts<T>(value: T, change: (text: string) => string): T {
  const walk = (inner: unknown): unknown => {
    if (typeof inner === 'string') return inner.startsWith('data:') ? inner : change(inner);
    if (Array.isArray(inner)) return inner.map(walk);
    if (typeof inner === 'object' && inner !== null) {
      return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, walk(one)]));
    }
    return inner;
  };
  return walk(value) as T;
}

/** Half a surrogate pair makes some providers refuse the whole request; in the JSON of arguments it is hidden by an escape. */
function wellFormed(text: string): string {
  const whole = text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  return whole.includes('\\u')
    ? whole.replaceAll(/(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g, loneEscape)
    : whole;
}

const high = /\\u[dD][89abAB][0-9a-fA-F]{2}$/;
const low = /^\\u[dD][c-fC-F][0-9a-fA-F]{2}/;

/** An escaped half that has its other half beside it stays. */
function loneEscape(match: string, slashes: string, at: number, text: string): string {
  const half = match.slice(slashes.length);
  const paired = low.test(half)
    ? slashes === '' && high.test(text.slice(0, at))
    : low.test(text.slice(at + match.length));
  return paired ? match : `${slashes}\uFFFD`;
}
